import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'

/** Packages of hundreds of small modules, which the service imports at its start. */
const packages = ['typebox', 'kysely', 'jose']

/**
 * Bundles some packages into one file each, and returns the value of NODE_OPTIONS with which every Node process
 * imports these files instead. A test run starts about five hundred processes, and a third of the time that
 * each takes to start was spent on finding and linking a thousand modules of these packages.
 */
export async function bundlePackages(root: string, folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true })
  const specifiers = importedSpecifiers(root)
  const input = Object.fromEntries(
    specifiers.map((specifier) => [nameOf(specifier), fileURLToPath(import.meta.resolve(specifier))]),
  )
  // Entries of one package share their modules in chunks: a class must not exist twice.
  const bundle = await rolldown({ input, platform: 'node', logLevel: 'warn' })
  await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: 'chunk-[hash].mjs',
  })
  await bundle.close()
  const preload = join(folder, 'use-bundles.mjs')
  const addresses = specifiers.map((specifier) => [
    specifier,
    pathToFileURL(join(folder, `${nameOf(specifier)}.mjs`)).href,
  ])
  writeFileSync(preload, preloadText(addresses))
  return `--import=${pathToFileURL(preload).href}`
}

function nameOf(specifier: string): string {
  return specifier.replaceAll('/', '-')
}

/** Every entry of the packages that the source code imports, such as `typebox` and `typebox/value`. */
function importedSpecifiers(root: string): string[] {
  const pattern = new RegExp(`from '((?:${packages.join('|')})(?:/[a-z-]+)?)'`, 'g')
  const files = globSync('{contract,geodata,query,server}/src/**/*.ts', { cwd: root })
  const specifiers = files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(pattern)].map(([, specifier]) => specifier!),
  )
  return [...new Set(specifiers)].sort()
}

/** The tests also run Node versions without hooks, in which the packages are imported as they are. */
function preloadText(addresses: string[][]): string {
  return `import module from 'node:module'
const addresses = new Map(${JSON.stringify(addresses)})
module.registerHooks?.({
  resolve(specifier, context, next) {
    const url = addresses.get(specifier)
    return url === undefined ? next(specifier, context) : { url, format: 'module', shortCircuit: true }
  },
})
`
}
