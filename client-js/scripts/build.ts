/** `npm run build`: dist/esm and dist/cjs, each one JavaScript file and its types. */
import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const out = resolve(process.argv[2] ?? join(root, 'dist'))

rmSync(out, { recursive: true, force: true })
for (const format of ['esm', 'cjs'] as const) {
  await build({
    entryPoints: [join(root, 'src/index.ts')],
    outfile: join(out, format, 'index.js'),
    bundle: true,
    format,
    platform: 'neutral',
    target: 'es2022',
    minify: true,
    sourcemap: true,
  })
}
writeTypes(join(out, 'esm'))
// The folder says what its files are: a `.js` beside a package.json of "type": "module" would be ESM.
cpSync(join(out, 'esm'), join(out, 'cjs'), { recursive: true, filter: (path) => !path.endsWith('.js') })
writeFileSync(join(out, 'cjs', 'package.json'), '{ "type": "commonjs" }\n')

function writeTypes(folder: string): void {
  mkdirSync(folder, { recursive: true })
  const tsc = join(createRequire(import.meta.url).resolve('typescript/package.json'), '../bin/tsc')
  const args = [tsc, '-p', join(root, 'tsconfig.build.json'), '--outDir', folder]
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
  if (status !== 0) throw new Error('The types could not be written.')
  for (const name of globSync('*.d.ts', { cwd: folder })) {
    const file = join(folder, name)
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/(from '\.\/[a-z-]+)\.ts'/g, "$1.js'"))
  }
}
