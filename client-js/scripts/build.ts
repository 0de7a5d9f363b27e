/**
 * `npm run build` writes, all of it readable and with source maps that contain the sources:
 *
 * - dist/esm: one JavaScript file and its types for each source file;
 * - dist/cjs: the same as one file, for `require`;
 * - dist/client.js: the same as one module, for pages without a bundler.
 *
 * Nothing is minified: a stack trace shows lines and class names that a user can read, and bundlers minify anyway.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleClient } from './bundle-client.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const out = resolve(process.argv[2] ?? join(root, 'dist'))
const esm = join(out, 'esm')
const cjs = join(out, 'cjs')

rmSync(out, { recursive: true, force: true })
compile()
await bundleClient('cjs', join(cjs, 'index.js'))
await bundleClient('esm', join(out, 'client.js'))
cpSync(esm, cjs, { recursive: true, filter: (path) => path === esm || path.endsWith('.d.ts') })
// package.json says "type": "module", which would make the files of this folder ESM too.
writeFileSync(join(cjs, 'package.json'), '{ "type": "commonjs" }\n')

function compile(): void {
  const tsc = join(createRequire(import.meta.url).resolve('typescript/package.json'), '../bin/tsc')
  const args = [tsc, '-p', join(root, 'tsconfig.build.json'), '--outDir', esm]
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
  if (status !== 0) throw new Error('The sources could not be compiled.')
  // tsc rewrites the imports of JavaScript files only; in types, `.ts` would be looked for in the package.
  for (const name of globSync('*.d.ts', { cwd: esm })) {
    const file = join(esm, name)
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/(from '\.\/[a-z-]+)\.ts'/g, "$1.js'"))
  }
}
