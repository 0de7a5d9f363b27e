import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runProgram } from '../run-program.ts'

const root = join(import.meta.dirname, '../..')
const folder = join(root, '.cache', 'venv')
const requirementsFile = join(root, 'scripts', 'test-run', 'requirements.txt')

/** On Debian the venv module is in a separate package. */
export function canMakeVirtualEnvironment(): boolean {
  return spawnSync('python3', ['-c', 'import ensurepip, venv'], { stdio: 'ignore' }).status === 0
}

/**
 * Creates a virtual environment with exactly the packages that the tests need, or reuses an up-to-date one. Returns the
 * path of its Python.
 */
export async function ensurePython(): Promise<string> {
  const python = join(folder, 'bin', 'python')
  const fingerprintFile = join(folder, 'requirements.sha256')
  const version = spawnSync('python3', ['--version'], { encoding: 'utf8' }).stdout
  const fingerprint = createHash('sha256')
    .update(version)
    .update(readFileSync(requirementsFile))
    .digest('hex')
  if (existsSync(fingerprintFile) && readFileSync(fingerprintFile, 'utf8') === fingerprint) return python

  console.log('Making the Python environment of the tests')
  // Not with --clear: if the folder is a link, that empties what it points to, which others may be using.
  rmSync(folder, { recursive: true, force: true })
  await runProgram('python3', ['-m', 'venv', folder])
  // Most of the modules are never imported: Python compiles those that are.
  const quiet = ['--quiet', '--disable-pip-version-check', '--no-input', '--no-compile']
  await runProgram(python, [
    '-m',
    'pip',
    'install',
    ...quiet,
    '--only-binary=:all:',
    '--requirement',
    requirementsFile,
  ])
  // The fingerprint is written last: an environment whose setup was interrupted has none and is recreated.
  writeFileSync(fingerprintFile, fingerprint)
  return python
}
