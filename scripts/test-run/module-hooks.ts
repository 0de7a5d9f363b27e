import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundlePackages } from '../program/bundle-packages.ts'
import { importedPackages, vendorName } from '../program/compile-sources.ts'

/**
 * Returns the value of NODE_OPTIONS with which every Node process of the tests finds modules faster. A test run starts
 * about five hundred processes, and a third of the time that each takes to start was spent on finding and linking two
 * thousand modules. The packages of the service are imported from bundles, as in the program that is installed.
 */
export async function moduleHooks(root: string, folder: string): Promise<string> {
  const packages = importedPackages(root)
  const bundles = await bundlesOf(root, packages, folder)
  const addresses = packages.map((name) => [
    name,
    pathToFileURL(join(bundles, `${vendorName(name)}.js`)).href,
  ])
  const preload = join(bundles, 'use-bundles.mjs')
  writeFileSync(preload, preloadText(root, addresses))
  return `--import=${pathToFileURL(preload).href}`
}

/** The folder with the bundles. They are made once for each state of the lock file, in about two seconds. */
async function bundlesOf(root: string, packages: string[], folder: string): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(packages))
  for (const file of ['package-lock.json', 'scripts/program/bundle-packages.ts'])
    hash.update(readFileSync(join(root, file)))
  const bundles = join(folder, `packages-${hash.digest('hex').slice(0, 16)}`)
  if (existsSync(bundles)) return bundles
  mkdirSync(folder, { recursive: true })
  const unfinished = `${bundles}-${process.pid}`
  await bundlePackages(root, packages, unfinished)
  try {
    renameSync(unfinished, bundles)
  } catch {
    // Another run was faster.
    rmSync(unfinished, { recursive: true })
  }
  return bundles
}

/**
 * The tests also run Node versions without hooks, in which the packages are imported as they are.
 *
 * A thousand imports of sources need none of the questions that Node asks for each: which package the file belongs to,
 * what type the package has, and whether its path has links. A relative import names its file completely, also in the
 * built program, and the name of a package means the same in all sources.
 */
function preloadText(root: string, addresses: string[][]): string {
  return `import { existsSync } from 'node:fs'
import module from 'node:module'
const root = ${JSON.stringify(pathToFileURL(`${root}/`).href)}
const program = ${JSON.stringify(pathToFileURL(join(root, '.cache', 'tested-program-')).href)}
const formats = { '.ts': 'module-typescript', '.js': 'module' }
const bundled = ([specifier, url]) => [specifier, { url, format: 'module', shortCircuit: true }]
const resolved = new Map(${JSON.stringify(addresses)}.map(bundled))
module.registerHooks?.({
  resolve(specifier, context, next) {
    const { parentURL, conditions } = context
    if (!parentURL?.startsWith(root) || !conditions.includes('import')) return next(specifier, context)
    const extension = parentURL.slice(-3)
    if (extension !== '.ts' && !parentURL.startsWith(program)) return next(specifier, context)
    if (specifier[0] === '.') {
      const file = new URL(specifier, parentURL)
      if (!file.pathname.endsWith(extension) || !existsSync(file)) return next(specifier, context)
      return { url: file.href, format: formats[extension], shortCircuit: true }
    }
    if (extension !== '.ts') return next(specifier, context)
    const known = resolved.get(specifier) ?? { ...next(specifier, context), shortCircuit: true }
    resolved.set(specifier, known)
    return known
  },
})
`
}
