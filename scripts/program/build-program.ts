import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { thirdPartyLicenses } from '../release/third-party-licenses.ts'
import { bundlePackages } from './bundle-packages.ts'
import { bundleProgram } from './bundle-program.ts'
import { compileSources, importedPackages } from './compile-sources.ts'

const COPIED = [
  'docs',
  'console/dist',
  'dist/clients',
  'LICENSE',
  'README.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'ops',
]

/**
 * Writes the program as one npm package without build steps: JavaScript, the bundled packages, the documentation, and
 * the console and the clients if they are built. Only native parts remain dependencies.
 */
export async function buildProgram(root: string, out: string): Promise<void> {
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  compileSources(root, out)
  await bundlePackages(root, importedPackages(root), join(out, 'vendor'))
  await bundleProgram(out)
  for (const path of COPIED) {
    if (existsSync(join(root, path))) cpSync(join(root, path), join(out, path), { recursive: true })
  }
  await copyPackageAssets(root, out)
  writeFileSync(join(out, 'THIRD-PARTY-LICENSES.txt'), thirdPartyLicenses(root))
  const { name, version, license } = JSON.parse(readFileSync(join(root, 'server', 'package.json'), 'utf8'))
  const own = { name, version, license, type: 'module' }
  writeFileSync(join(out, 'server', 'package.json'), `${JSON.stringify(own, null, 2)}\n`)
  writeFileSync(join(out, 'package.json'), `${JSON.stringify({ ...own, ...published(root) }, null, 2)}\n`)
}

/** What package.json has beside name and version. */
function published(root: string) {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
  const native = ['@duckdb/node-bindings', 'koffi']
  return {
    description: 'Publishes geospatial and tabular datasets and grants keys to them.',
    engines: { node: '>=20' },
    bin: { wayleave: './server/bin/wayleave.js' },
    dependencies: Object.fromEntries(native.map((each) => [each, lock[`node_modules/${each}`].version])),
    optionalDependencies: JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).optionalDependencies,
  }
}

/** What the documentation's pages load from npm packages, which the program does not have. */
async function copyPackageAssets(root: string, out: string): Promise<void> {
  const folder = 'server/src/site/documentation'
  const module = pathToFileURL(join(root, folder, 'package-assets.ts')).href
  const { PACKAGE_ASSETS, packageAsset } = (await import(module)) as {
    PACKAGE_ASSETS: string[]
    packageAsset: (name: string) => string | undefined
  }
  for (const name of PACKAGE_ASSETS) cpSync(packageAsset(name)!, join(out, folder, 'assets', name))
}
