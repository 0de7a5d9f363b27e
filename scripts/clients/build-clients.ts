import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { buildWheel } from './python-wheel.ts'

const sources = [
  'client-js/{package.json,LICENSE,README.md,tsconfig*.json}',
  'client-js/{src,scripts}/**/*',
  'client-python/{pyproject.toml,LICENSE,README.md}',
  'client-python/src/**/*.{py,typed}',
  'scripts/clients/*.ts',
]

/** Where the service looks for the packages of its clients. */
export function clientsFolder(root: string): string {
  return join(root, 'dist', 'clients')
}

/** Builds the packages of both clients if they were never built or their sources are newer. */
export function ensureClients(root: string): void {
  const folder = clientsFolder(root)
  if (existsSync(folder) && statSync(folder).mtimeMs >= newestChange(root)) return
  console.log('Packing the clients, because their sources are new')
  const started = performance.now()
  try {
    buildClients(root, folder)
    console.log(`  packed in ${((performance.now() - started) / 1000).toFixed(1)} s`)
  } catch (error) {
    console.error(
      `The clients could not be packed: ${(error as Error).message} The service starts without them.`,
    )
  }
}

/**
 * Writes what every instance serves under /clients: the wheel of the Python client, the npm package of the JavaScript
 * client, and the latter as one module. The folder appears whole, because tests may run this at the same time.
 */
export function buildClients(root: string, out: string): void {
  mkdirSync(dirname(out), { recursive: true })
  const staging = mkdtempSync(`${out}-`)
  try {
    const finished = join(staging, 'finished')
    mkdirSync(finished)
    const wheel = buildWheel(join(root, 'client-python'))
    writeFileSync(join(finished, wheel.fileName), wheel.bytes)
    packJavaScript(join(root, 'client-js'), join(staging, 'package'), finished)
    replaceFolder(finished, out)
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

/** Packs a copy, because other processes may use client-js/dist. */
function packJavaScript(client: string, copy: string, out: string): void {
  mkdirSync(copy)
  for (const name of ['package.json', 'LICENSE', 'README.md']) {
    copyFileSync(join(client, name), join(copy, name))
  }
  const dist = join(copy, 'dist')
  run(process.execPath, join(client, 'scripts', 'build.ts'), dist)
  run('npm', 'pack', copy, '--ignore-scripts', '--silent', '--pack-destination', out)
  for (const name of ['client.js', 'client.js.map']) copyFileSync(join(dist, name), join(out, name))
}

function replaceFolder(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true })
  try {
    renameSync(from, to)
  } catch (error) {
    // Another process has put the same files there.
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error
  }
}

function run(command: string, ...args: string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${[command, ...args].join(' ')} failed. ${stderr}`)
}

function newestChange(root: string): number {
  const files = globSync(sources, { cwd: root })
  return Math.max(0, ...files.map((file) => statSync(join(root, file)).mtimeMs))
}
