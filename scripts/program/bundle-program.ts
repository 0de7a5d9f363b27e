import { readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { build } from 'rolldown'
import { EXTERNAL, failIfUnresolved } from './bundle-packages.ts'

const SERVING_THREAD = 'server/src/assembly/threads/serving-thread.js'

/**
 * Bundles the command line, the server, which it loads when it serves, and the serving threads into a few files in
 * `lib`: finding and linking nine hundred modules makes a start slower. Other threads and child processes run the single
 * modules, which stay where they are, so every file that a module finds by its own place is found from `lib` instead.
 */
export async function bundleProgram(out: string): Promise<void> {
  await build({
    input: { main: join(out, 'server', 'src', 'main.js'), 'serving-thread': join(out, SERVING_THREAD) },
    cwd: out,
    platform: 'node',
    external: EXTERNAL,
    onLog: failIfUnresolved,
    plugins: [
      { name: 'places', transform: (code, id) => withPlace(code, relative(out, id)) },
      { name: 'ascii', renderChunk: inAscii },
    ],
    output: {
      dir: join(out, 'lib'),
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: '[name]-[hash].js',
      codeSplitting: {
        groups: [{ debugName: 'layers', name: layerNames(out), includeDependenciesRecursively: false }],
      },
      comments: { legal: true, jsdoc: false },
    },
    preserveEntrySignatures: 'allow-extension',
    // A module that a layer has anyway is also imported when it is needed, for runs from the sources.
    checks: { ineffectiveDynamicImport: false },
    logLevel: 'warn',
  })
  const bin = join(out, 'server', 'bin', 'wayleave.js')
  const text = readFileSync(bin, 'utf8')
  const bundled = text.replace("'../src/main.js'", "'../../lib/main.js'")
  if (bundled === text) throw new Error('server/bin/wayleave.js does not name the main module.')
  writeFileSync(bin, bundled)
  writeFileSync(join(out, SERVING_THREAD), "import '../../../../lib/serving-thread.js'\n")
}

/** What each kind of command loads, in this order; the last one serves. */
const LAYERS = ['main', 'assembly/control-plane', 'assembly/wiring', 'assembly/start-server']

interface ModuleGraph {
  getModuleInfo(id: string): { importedIds: readonly string[] } | null
}

/**
 * Names the bundle of a module: the first of the layers that imports it, directly or not. Without it there would be a
 * file for each combination of commands that share a module, and a start would load a hundred small files.
 */
function layerNames(out: string): (id: string, graph: ModuleGraph) => string | null {
  let layers: { name: string; ids: Set<string> }[] | undefined
  const main = join(out, 'server', 'src', 'main.js')
  return (id, graph) => {
    // It awaits the program: what the program imports must not be in the same file.
    if (id === main) return null
    layers ??= LAYERS.map((name) => ({
      name,
      ids: importedBy(join(out, 'server', 'src', `${name}.js`), graph),
    }))
    const layer = layers.find(({ ids }) => ids.has(id))
    if (layer === undefined) return null
    return layer.name === 'main' ? 'base' : basename(layer.name)
  }
}

/** The module and all that it imports, directly or not, except by `import()`. */
function importedBy(entry: string, graph: ModuleGraph): Set<string> {
  if (graph.getModuleInfo(entry) === null) throw new Error(`The program has no module ${entry}.`)
  const ids = new Set([entry])
  for (const id of ids) for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) ids.add(imported)
  return ids
}

/**
 * Escapes what is not ASCII: V8 stores a file with a character beyond Latin-1 in two bytes per character, which took
 * 3 MB of memory, and a file of ASCII is read without decoding it. Identifiers and raw templates have none.
 */
function inAscii(code: string): string {
  return code.replaceAll(
    /[^\0-\x7f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** All bundles are in one folder, one level below the root. */
function withPlace(code: string, place: string): string | null {
  if (!code.includes('import.meta.')) return null
  return code
    .replaceAll('import.meta.url', `new URL('../${place}', import.meta.url).href`)
    .replaceAll('import.meta.dirname', `(import.meta.dirname + '/../${dirname(place)}')`)
}
