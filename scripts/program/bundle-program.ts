import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { build } from 'rolldown'
import { EXTERNAL } from './bundle-packages.ts'

/**
 * Bundles the command line and the server, which it loads when it serves, into a few files in `lib`: finding and
 * linking five hundred modules makes a start slower. Threads and child processes run the single modules,
 * which stay where they are, so every file that a module finds by its own place is found from `lib` instead.
 */
export async function bundleProgram(out: string): Promise<void> {
  await build({
    input: { main: join(out, 'server', 'src', 'main.js') },
    cwd: out,
    platform: 'node',
    external: EXTERNAL,
    plugins: [{ name: 'places', transform: (code, id) => withPlace(code, relative(out, id)) }],
    output: {
      dir: join(out, 'lib'),
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: '[name]-[hash].js',
      comments: { legal: true, jsdoc: false },
    },
    logLevel: 'warn',
  })
  const bin = join(out, 'server', 'bin', 'wayleave.js')
  const text = readFileSync(bin, 'utf8')
  const bundled = text.replace("'../src/main.js'", "'../../lib/main.js'")
  if (bundled === text) throw new Error('server/bin/wayleave.js does not name the main module.')
  writeFileSync(bin, bundled)
}

/** All bundles are in one folder, one level below the root. */
function withPlace(code: string, place: string): string | null {
  if (!code.includes('import.meta.')) return null
  return code
    .replaceAll('import.meta.url', `new URL('../${place}', import.meta.url).href`)
    .replaceAll('import.meta.dirname', `(import.meta.dirname + '/../${dirname(place)}')`)
}
