/**
 * `npm run build` writes, all of it readable and with source maps that contain the sources:
 *
 * - dist/esm: one JavaScript file and its types for each source file;
 * - dist/cjs: the same as one file, for `require`;
 * - dist/client.js: the same as one module, for pages without a bundler.
 *
 * Nothing is minified: a stack trace shows lines and class names that a user can read, and bundlers minify anyway. The
 * bundler makes all of it, types included, because `npm start` builds this too and the compiler is not installed for it.
 */
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isolatedDeclarationSync } from 'rolldown/experimental'
import { transformSync } from 'rolldown/utils'
import { bundleClient } from './bundle-client.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const out = resolve(process.argv[2] ?? join(root, 'dist'))
const esm = join(out, 'esm')
const cjs = join(out, 'cjs')

rmSync(out, { recursive: true, force: true })
mkdirSync(esm, { recursive: true })
for (const name of globSync('*.ts', { cwd: join(root, 'src') })) compile(name)
await bundleClient('cjs', join(cjs, 'index.js'))
await bundleClient('esm', join(out, 'client.js'))
cpSync(esm, cjs, { recursive: true, filter: (path) => path === esm || path.endsWith('.d.ts') })
// package.json says "type": "module", which would make the files of this folder ESM too.
writeFileSync(join(cjs, 'package.json'), '{ "type": "commonjs" }\n')

/** Writes the JavaScript, the source map and the types of one source file. */
function compile(name: string): void {
  const text = readFileSync(join(root, 'src', name), 'utf8')
  const script = name.replace(/\.ts$/, '.js')
  const { code, map, errors } = transformSync(`../../src/${name}`, text, {
    target: 'es2022',
    sourcemap: true,
    typescript: { rewriteImportExtensions: 'rewrite' },
  })
  const types = isolatedDeclarationSync(name, text)
  for (const error of [...errors, ...types.errors]) throw new Error(`${name}: ${error.message}`)
  writeFileSync(join(esm, script), `${code}//# sourceMappingURL=${script}.map\n`)
  writeFileSync(join(esm, `${script}.map`), JSON.stringify(map))
  // In types, `.ts` would be looked for in the package.
  const importingScripts = types.code.replaceAll(/(from "\.\/[a-z-]+)\.ts"/g, '$1.js"')
  writeFileSync(join(esm, name.replace(/\.ts$/, '.d.ts')), importingScripts)
}
