/**
 * `npm run release`: checks that the tree is clean, the versions agree and the changelog has the version, runs all
 * tests, builds the packages of the program and of both clients into dist/release, and tags the commit. `--dry-run` runs
 * the static checks instead of the tests, accepts unreleased changes, and makes no tag. `--set 0.2.0` writes a new
 * version everywhere and dates the changelog.
 */
import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildClients, clientsFolder } from '../clients/build-clients.ts'
import { ensureConsole } from '../console-build.ts'
import { buildProgram } from '../program/build-program.ts'
import { ensurePython } from '../test-servers/python.ts'
import { billOfMaterials } from './bill-of-materials.ts'
import { dateChangelog, requireReleased } from './changelog.ts'
import { provenance } from './provenance.ts'
import { commonVersion, writeVersion } from './versions.ts'

const root = join(import.meta.dirname, '../..')
const changelog = join(root, 'CHANGELOG.md')
const out = join(root, 'dist', 'release')

const { values } = parseArgs({ options: { 'dry-run': { type: 'boolean' }, set: { type: 'string' } } })
try {
  if (values.set === undefined) await release(values['dry-run'] ?? false)
  else setVersion(values.set)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

function setVersion(version: string): void {
  const text = dateChangelog(readFileSync(changelog, 'utf8'), version, new Date().toISOString().slice(0, 10))
  writeVersion(root, version)
  writeFileSync(changelog, text)
  // Workspaces refer to each other by version, and the lock file repeats it.
  run('npm', 'install', '--package-lock-only', '--ignore-scripts')
  run('npm', 'run', 'lock')
  console.log(`Everything has the version ${version}. Read CHANGELOG.md, commit, then run npm run release.`)
}

async function release(isDryRun: boolean): Promise<void> {
  const version = commonVersion(root)
  const tag = `v${version}`
  if (!isDryRun) {
    requireReleased(readFileSync(changelog, 'utf8'), version)
    if (output('git', 'tag', '--list', tag) !== '') throw new Error(`The tag ${tag} exists already.`)
  }
  if (output('git', 'status', '--porcelain') !== '') throw new Error('The tree has uncommitted changes.')
  run('npm', ...(isDryRun ? ['run', 'check'] : ['test']))
  await pack()
  if (!isDryRun) run('git', 'tag', '--annotate', tag, '--message', `Wayleave ${version}`)
  console.log(`${isDryRun ? 'Not tagged (dry run):' : 'Tagged'} ${tag}. The packages are in ${out}.`)
}

/** The packed program and clients, what they are made of and from, and the checksums of all. */
async function pack(): Promise<void> {
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  ensureConsole(root)
  const clients = clientsFolder(root)
  buildClients(root, clients)
  for (const name of readdirSync(clients)) copyFileSync(join(clients, name), join(out, name))
  const program = join(root, 'dist', 'program')
  await buildProgram(root, program)
  run('npm', 'pack', program, '--pack-destination', out)
  const python = await ensurePython()
  run(python, '-m', 'build', '--sdist', '--outdir', out, join(root, 'client-python'))
  const version = commonVersion(root)
  const materials = `${JSON.stringify(billOfMaterials(root), null, 1)}\n`
  writeFileSync(join(out, `wayleave-${version}.cdx.json`), materials)
  const files = readdirSync(out).map((name) => join(out, name))
  const facts = {
    commit: output('git', 'rev-parse', 'HEAD'),
    version,
    npmVersion: output('npm', '--version'),
  }
  writeFileSync(join(out, `wayleave-${version}.provenance.json`), provenance(root, files, facts))
  const sums = readdirSync(out)
    .sort()
    .map((name) => `${hash('sha256', readFileSync(join(out, name)))}  ${name}\n`)
  writeFileSync(join(out, 'SHA256SUMS'), sums.join(''))
  console.log(sums.join('').trimEnd())
}

function run(command: string, ...args: string[]): void {
  const { status } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0) throw new Error(`Failed: ${[command, ...args].join(' ')}`)
}

function output(command: string, ...args: string[]): string {
  const { status, stdout } = spawnSync(command, args, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`Failed: ${[command, ...args].join(' ')}`)
  return stdout.trim()
}
