import { copyFileSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join, relative } from 'node:path'

const WORKSPACES = ['contract', 'geodata', 'query', 'demo', 'server']
/** Code of tests and files that only tests read. */
const DEVELOPMENT =
  /\.test\.ts$|(^|\/)(testing|test-data)\/|(^|\/)test-[^/]*\.ts$|-(arbitrary|fixture)\.ts$|test-kit\.ts$/

/** Matches the specifier of static and dynamic imports, and of files that are found by `new URL`. */
const SPECIFIER = /(\bfrom |\bimport |\bimport\(\s*|\bnew URL\(\s*(?='\.))'([^'\n]+)'/g

/** An import that leaves no trace in JavaScript. */
const TYPE_IMPORT = /^(import|export) type [^']*\bfrom '[^']*'/gm

/** The npm packages that the sources import, such as `typebox/value`. */
export function importedPackages(root: string): string[] {
  const exports = workspaceExports(root)
  const specifiers = sourceFiles(root)
    .filter((file) => isModule(file))
    .flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8').replace(TYPE_IMPORT, '')
      return [...text.matchAll(SPECIFIER)].map(([, , specifier]) => specifier!)
    })
  return [...new Set(specifiers)].filter((specifier) => placeOf(specifier, exports) === undefined).sort()
}

/**
 * Writes the sources of the service as JavaScript, file by file, with the same folders: Node does not run TypeScript
 * inside node_modules. Types become blanks, so that lines and columns stay as they are. Imports of packages lead to
 * the folder `vendor`.
 */
export function compileSources(root: string, out: string): void {
  const exports = workspaceExports(root)
  for (const file of sourceFiles(root)) {
    const target = join(out, file.replace(/\.ts$/, '.js'))
    mkdirSync(dirname(target), { recursive: true })
    if (!isModule(file)) {
      copyFileSync(join(root, file), target)
      continue
    }
    const text = readFileSync(join(root, file), 'utf8')
    const stripped = file.endsWith('.ts') ? stripTypeScriptTypes(text) : text
    const rewritten = stripped.replace(SPECIFIER, (_, before: string, specifier: string) => {
      const path = placeOf(specifier, exports) ?? `vendor/${vendorName(specifier)}.js`
      return `${before}'${path.startsWith('.') || path.startsWith('node:') ? path : relativeTo(file, path)}'`
    })
    writeFileSync(target, rewritten)
  }
}

function isModule(file: string): boolean {
  return file.endsWith('.ts') || file.startsWith('server/bin/')
}

/** The file of `vendor` that replaces a package or a part of one. */
export function vendorName(specifier: string): string {
  return specifier
    .replace(/^@/, '')
    .replaceAll('/', '-')
    .replaceAll(/\.[cm]?js$/g, '')
}

function sourceFiles(root: string): string[] {
  const patterns = WORKSPACES.map((name) => `${name}/src/**/*.{ts,tsv,css,js,svg}`)
  return globSync([...patterns, 'server/bin/*', 'demo/data/*'], { cwd: root })
    .filter((file) => !DEVELOPMENT.test(file))
    .sort()
}

/** The entry points of our own packages, such as `@wayleave/geodata/compile` → `geodata/src/entry/compile.ts`. */
function workspaceExports(root: string): Map<string, string> {
  const entries = WORKSPACES.flatMap((folder) => {
    const { name, exports = {} } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
    return Object.entries<string>(exports).map(([path, file]): [string, string] => [
      join(name, path),
      join(folder, file),
    ])
  })
  return new Map(entries)
}

/** Where an import leads to: a path relative to the file or to the root; undefined for an npm package. */
function placeOf(specifier: string, exports: Map<string, string>): string | undefined {
  const compiled = (path: string) => path.replace(/\.ts$/, '.js')
  if (specifier.startsWith('.')) return compiled(specifier)
  if (specifier.startsWith('node:')) return specifier
  for (const [entry, file] of exports) {
    if (entry === specifier) return compiled(file)
    // A pattern, such as `@wayleave/demo/*`.
    const prefix = entry.slice(0, -1)
    if (entry.endsWith('/*') && specifier.startsWith(prefix))
      return compiled(file.replace('*', specifier.slice(prefix.length)))
  }
  return undefined
}

function relativeTo(file: string, path: string): string {
  const relativePath = relative(dirname(file), path)
  return relativePath.startsWith('.') ? relativePath : `./${relativePath}`
}
