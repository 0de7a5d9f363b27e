/**
 * Runs after `npm ci`: deletes what packages contain beside the code that is run, about 180 MB of 490 MB: the C++
 * headers of the Node that it installed, source maps, tests, documentation, sources of compiled code, and the same
 * code in module formats or variants that neither Node nor the console's build loads. Types and licences stay.
 * Plain JavaScript, because an older Node may run it.
 */
import { lstatSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Folders at the top of any package. */
const ANY_PACKAGE = /^(tests?|__tests__|docs?|examples?|bench(marks?)?|\.github)$/

/** Further paths below a package; `*` stands for a part of a name. */
const BY_PACKAGE = {
  'node-*': ['include', 'share', 'CHANGELOG.md'],
  '@aws-sdk/*': ['dist-es', 'dist-types/ts3.4'],
  '@smithy/*': ['dist-es', 'dist-types/ts3.4'],
  '@opentelemetry/*': ['build/esm', 'build/esnext'],
  '@opentelemetry/semantic-conventions': ['dist/experimental_*', 'dist/index-incubating.*'],
  '@maplibre/maplibre-gl-style-spec': ['src', 'bin', 'dist/gl-style-*'],
  '@tanstack/*': ['src', 'build/legacy'],
  ajv: ['lib'],
  'apache-arrow': ['src', 'Arrow.es*'],
  'highlight.js': ['lib/languages', 'styles', 'scss'],
  jschardet: ['dist'],
  'maplibre-gl': ['src', 'build', 'dist/*-dev.mjs'],
  'react-dom': ['cjs/*server*', 'cjs/*profiling*'],
  'swagger-ui-dist': ['swagger-ui-es-bundle*', 'swagger-ui.js'],
}

const root = join(import.meta.dirname, '..')
requireCurrentNode()
slimFolder(join(root, 'node_modules'))
nameUnchecked()

/** npm runs this on the Node that it has just installed, if there is one for the platform. */
function requireCurrentNode() {
  const { platform, arch, versions } = process
  if (Number(versions.node.split('.')[0]) >= 24) return
  console.error(
    `Node 24 or newer is needed. npm installs it on Linux on x64 and arm64; this is Node ${versions.node} on ${platform} on ${arch}. Install Node 24 and run npm ci again.`,
  )
  process.exit(1)
}

/** The lock file has no hash of packages for platforms that its registry lacked. */
function nameUnchecked() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const unchecked = Object.keys(packages).filter((path) => {
    const { integrity, link } = packages[path]
    return path.startsWith('node_modules/') && !integrity && !link && isFolder(join(root, path))
  })
  if (unchecked.length > 0)
    console.warn(
      `Installed without a comparison with a hash, because the lock file has none of this platform: ${unchecked.join(', ')}. \`npm run lock\` adds those that your registry knows.`,
    )
}

function slimFolder(modules) {
  for (const name of readdirSync(modules)) {
    if (name.startsWith('.')) continue
    const path = join(modules, name)
    if (!name.startsWith('@')) slimPackage(name, path)
    else for (const part of readdirSync(path)) slimPackage(`${name}/${part}`, join(path, part))
  }
}

function slimPackage(name, folder) {
  // Our own packages are links.
  if (!isFolder(folder)) return
  for (const entry of readdirSync(folder)) if (ANY_PACKAGE.test(entry)) remove(join(folder, entry))
  for (const [pattern, paths] of Object.entries(BY_PACKAGE)) {
    if (matches(pattern, name)) for (const path of paths) removePath(folder, path.split('/'))
  }
  removeSourceMaps(folder)
  const nested = join(folder, 'node_modules')
  if (isFolder(nested)) slimFolder(nested)
}

function removePath(folder, [part, ...rest]) {
  if (!isFolder(folder)) return
  for (const entry of readdirSync(folder)) {
    if (!matches(part, entry)) continue
    if (rest.length === 0) remove(join(folder, entry))
    else removePath(join(folder, entry), rest)
  }
}

function removeSourceMaps(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory() && entry.name !== 'node_modules') removeSourceMaps(path)
    else if (/\.(js|mjs|cjs|ts|mts|cts|css)\.map$/.test(entry.name)) remove(path)
  }
}

function matches(pattern, name) {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.\\+?^$()[\]{}|]/g, '\\$&'))
  return new RegExp(`^${parts.join('[^/]*')}$`).test(name)
}

function isFolder(path) {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

function remove(path) {
  rmSync(path, { recursive: true, force: true })
}
