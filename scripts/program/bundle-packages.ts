import { type BuildOptions, build, type Plugin } from 'rolldown'
import { vendorName } from './compile-sources.ts'

/** Native parts, which npm installs, and parts of packages that are never used here. */
export const EXTERNAL = [/^node:/, /^@duckdb\/node-bindings/, 'koffi', 'pg-native', 'pg-cloudflare']

/** How the names of modules in memory start. */
const ENTRY = 'entry:'

/** Without this, a package that is not found would stay an import, and fail only when it is loaded. */
export const failIfUnresolved: BuildOptions['onLog'] = (level, log, handle) =>
  handle(log.code === 'UNRESOLVED_IMPORT' ? 'error' : level, log)

/**
 * Bundles npm packages into `vendor`, one file for each import: loading two thousand small files took most of the
 * service's start. Each entry re-exports by name what the package exports, because CommonJS packages have no names
 * that a bundler could see.
 */
export async function bundlePackages(root: string, packages: string[], out: string): Promise<void> {
  const entries = new Map<string, string>()
  for (const name of packages) {
    const names = Object.keys(await import(name)).filter((key) => /^(?!__esModule$)[\w$]+$/.test(key))
    entries.set(vendorName(name), `export { ${names.join(', ')} } from '${name}'\n`)
  }
  await build({
    input: Object.fromEntries([...entries.keys()].map((name) => [name, ENTRY + name])),
    plugins: [inMemory(entries), fontsOfPdfkit, prefixesOfRouter],
    cwd: root,
    platform: 'node',
    external: EXTERNAL,
    // As Node resolves them, not as bundlers do: the tests run the same files.
    resolve: { conditionNames: ['node', 'default'] },
    onLog: failIfUnresolved,
    output: {
      dir: out,
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: 'shared/[name].js',
      comments: { legal: true, jsdoc: false },
    },
    logLevel: 'warn',
  })
}

/** Modules without files: two builds may run at once, and the result must not depend on where they would be. */
function inMemory(modules: Map<string, string>): Plugin {
  return {
    name: 'in-memory',
    resolveId: (id) => (id.startsWith(ENTRY) ? id : null),
    load: (id) => (id.startsWith(ENTRY) ? modules.get(id.slice(ENTRY.length)) : null),
  }
}

/** The standard fonts of invoices, by the names of pdfkit's modules. */
const FONTS = ['Helvetica', 'HelveticaBold']

/** pdfkit finds its standard fonts by `require` at its own place. Those that are used become a part of the bundle. */
const fontsOfPdfkit: Plugin = {
  name: 'fonts-of-pdfkit',
  transform: (code, id) => {
    if (!id.endsWith('pdfkit.node.mjs')) return null
    return FONTS.reduce((text, font) => {
      const required = `require$1('#standard-fonts/${font}')`
      if (!text.includes(required)) throw new Error('pdfkit loads its fonts in another way.')
      return `import font${font} from 'pdfkit/standard-fonts/${font}'\n${text.replace(required, () => `font${font}`)}`
    }, code)
  },
}

/**
 * The router of Fastify makes a function from a text for each part of a path. V8 caches no code for those, and
 * compiling hundreds of them took a twentieth of a start. A comparison of texts does the same.
 */
const prefixesOfRouter: Plugin = {
  name: 'prefixes-of-router',
  transform: (code, id) => {
    if (!id.endsWith('find-my-way/lib/node.js')) return null
    const compiled = /return new Function\('path', 'i', .*/
    if (!compiled.test(code)) throw new Error('find-my-way compares prefixes in another way.')
    return code.replace(compiled, 'return (path, i) => path.startsWith(prefix, i)')
  },
}
