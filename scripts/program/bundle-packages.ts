import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BuildOptions, build } from 'rolldown'
import { vendorName } from './compile-sources.ts'

/** Native parts, which npm installs, and parts of packages that are never used here. */
export const EXTERNAL = [/^node:/, /^@duckdb\/node-bindings/, 'pg-native', 'pg-cloudflare']

/** Without this, a package that is not found would stay an import, and fail only when it is loaded. */
export const failIfUnresolved: BuildOptions['onLog'] = (level, log, handle) =>
  handle(log.code === 'UNRESOLVED_IMPORT' ? 'error' : level, log)

/**
 * Bundles npm packages into `vendor`, one file for each import: loading two thousand small files took most of the
 * service's start. Each entry re-exports by name what the package exports, because CommonJS packages have no names
 * that a bundler could see.
 */
export async function bundlePackages(root: string, packages: string[], out: string): Promise<void> {
  // Inside the repository, so that packages are found from here.
  const entries = join(root, '.cache', 'vendor-entries')
  mkdirSync(entries, { recursive: true })
  const input: Record<string, string> = {}
  for (const name of packages) {
    const file = join(entries, `${vendorName(name)}.js`)
    const names = Object.keys(await import(name)).filter((key) => /^(?!__esModule$)[\w$]+$/.test(key))
    writeFileSync(file, `export { ${names.join(', ')} } from '${name}'\n`)
    input[vendorName(name)] = file
  }
  await build({
    input,
    cwd: root,
    platform: 'node',
    external: EXTERNAL,
    // As Node resolves them: what packages have for bundlers is not installed (scripts/slim-packages.js).
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
  rmSync(entries, { recursive: true })
}
