/**
 * Installs the packages that only development needs: compilers, linters, oracles of the tests. `npm ci` leaves them
 * out (`omit=dev` in .npmrc), because running the service needs a third of the size. npm runs this script before
 * those scripts of package.json that need the tools; it returns at once if they are installed.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { missingTools } from './missing-tools.ts'

const root = join(import.meta.dirname, '..')
const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
const missing = missingTools(root, packages)
if (missing.length > 0) {
  console.log(`Installing ${missing.length} packages for development (about 250 MB)`)
  const started = performance.now()
  // Not `npm ci`, which would first delete the Node that runs this script.
  const install = ['install', '--include=dev', '--no-save', '--no-progress', '--loglevel=error']
  const { status } = spawnSync('npm', install, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  const seconds = Math.round((performance.now() - started) / 1000)
  if (status === 0) console.log(`Installed them in ${seconds} s`)
  else console.error('They could not be installed. Run `npm ci --include=dev` to see why.')
  process.exitCode = status === 0 ? 0 : 1
}
