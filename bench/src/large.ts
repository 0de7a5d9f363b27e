import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDuckDb } from '@wayleave/geodata/duckdb'
import { type Bench, decimal, whole } from './bench.ts'
import { compareProcessorTime, type Side } from './measure/compare.ts'
import { figuresOf } from './measure/process-figures.ts'
import { printTileCosts } from './measure/tile-costs.ts'
import { startWayleave, type WayleaveServer } from './measure/wayleave-server.ts'

const SMALL = 1_000_000
/** The ordinary number; `--points 100000000` is for a machine that has an hour. */
const LARGE = 5_000_000
/** Different requests of each kind, which are sent in turn. */
const REQUESTS = 200

interface Kind {
  name: string
  /** The path below the items of a table of so many points. */
  path: (request: number, points: number) => string
}

const KINDS: Kind[] = [
  { name: 'pages of ten in boxes', path: (i, points) => `?limit=10&bbox=${boxOf(i, 20, points)}` },
  { name: 'single features', path: (i, points) => `/${1 + ((i * 7919) % points)}` },
  { name: 'a rare value', path: (i) => `?limit=10&filter=${encodeURIComponent(`code = ${i * 17}`)}` },
  {
    name: 'two conditions with AND',
    path: (i) => `?limit=10&filter=${encodeURIComponent(`kind = 'k${i % 20}' AND value > ${i / REQUESTS}`)}`,
  },
  {
    name: 'sorted, ten',
    path: (i) => `?limit=10&sortby=-value&filter=${encodeURIComponent(`kind = 'k${i % 20}'`)}`,
  },
]

/**
 * Many points beside a million: the time and memory to publish each, the first page after the snapshot is opened, the
 * memory of the server, and the processor time of requests relative to those of a million points.
 */
export const bench: Bench = async (print, { points = String(LARGE), tiles = false }) => {
  const large = Number(points)
  const folder = await mkdtemp(join(tmpdir(), 'wayleave-bench-'))
  const server = await startWayleave({ WAYLEAVE_MAX_ROWS: String(Math.max(large, SMALL)) })
  try {
    const headers = { 'x-api-key': await server.createKey() }
    const cold = forgetFiles() ? 'cold' : 'not cold'
    print(
      `| points | publish, s | µs a feature | of processors, µs | its memory, MB | first page (${cold}), ms | server, MB |`,
    )
    print('|--:|--:|--:|--:|--:|--:|--:|')
    for (const [table, count] of [
      ['small', SMALL],
      ['large', large],
    ] as const) {
      const source = join(folder, `${table}.parquet`)
      await generateParquet(source, count)
      const { seconds, processorSeconds, peakMegabytes } = await server.measure(
        'publish',
        source,
        '--table',
        table,
      )
      await rm(source)
      forgetFiles()
      // The first request of this process reads the code of its own client.
      await timeOf(server, '/health', headers)
      const first = await timeOf(server, `${items(table)}?limit=10&bbox=${boxOf(1, 20, count)}`, headers)
      const figures = [
        decimal(seconds, 1),
        decimal((seconds / count) * 1e6),
        decimal((processorSeconds / count) * 1e6),
        whole(peakMegabytes),
        decimal(first, 0),
      ]
      print(`| ${whole(count)} | ${figures.join(' | ')} | ${memoryOf(server)} |`)
    }
    print('\n| requests | processor time, large : small |')
    print('|---|--:|')
    for (const kind of KINDS) {
      const sides = [
        sideOf(server, headers, kind, 'small', SMALL),
        sideOf(server, headers, kind, 'large', large),
      ]
      const [, ratio] = await compareProcessorTime(sides)
      print(`| ${kind.name} | ${decimal(ratio!)} |`)
    }
    await facets(server, headers, print)
    print(`\nMemory of the server after all: ${memoryOf(server)} MB (aim: at most 1,000).`)
    print(
      'Aims: at most 1.2 times the time of a feature of the small one and 2,000 MB; the first page within 50 ms, ratios of at most 1.1, facets within 300 ms.',
    )
    if (tiles) {
      print('')
      await printTileCosts(
        await tilesOf(server, 'small', SMALL),
        await tilesOf(server, 'large', large),
        print,
      )
    }
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function facets(
  server: WayleaveServer,
  headers: Record<string, string>,
  print: (line: string) => void,
): Promise<void> {
  const columns = 'kind,region,grade,year,active'
  // About a tenth of the points.
  const path = (shift: number) =>
    `/v1/ogc/collections/large/facets?columns=${columns}&bbox=${-60 + shift},-30,53,27`
  const first = await timeOf(server, path(0), headers)
  const times: number[] = []
  for (let i = 1; i <= 9; i++) times.push(await timeOf(server, path(i / 10), headers))
  times.sort((a, b) => a - b)
  print(
    `\nFacets of five columns over a tenth of the points: ${decimal(first, 0)} ms at first, then ${decimal(times[4]!, 0)} ms (median).`,
  )
}

async function tilesOf({ dataDir }: WayleaveServer, table: string, features: number) {
  const snapshots = join(dataDir, 'snapshots')
  const name = (await readdir(snapshots)).find((folder) => folder.startsWith(`${table}_`))!
  return { features, snapshot: join(snapshots, name), out: join(dataDir, `${table}.pmtiles`) }
}

function items(table: string): string {
  return `/v1/ogc/collections/${table}/items`
}

function sideOf(
  server: WayleaveServer,
  headers: Record<string, string>,
  kind: Kind,
  table: string,
  points: number,
): Side {
  const requests = Array.from({ length: REQUESTS }, (_, i) => ({
    path: items(table) + kind.path(i, points),
    headers,
  }))
  return { name: table, server, load: { connections: 16, requests } }
}

async function timeOf(
  server: WayleaveServer,
  path: string,
  headers: Record<string, string>,
): Promise<number> {
  const began = performance.now()
  const response = await fetch(new URL(path, server.origin), { headers })
  await response.bytes()
  if (response.status !== 200) throw new Error(`${path} responded with ${response.status}`)
  return performance.now() - began
}

/** Empties the cache of files that the system keeps in memory; false where that is not allowed. */
function forgetFiles(): boolean {
  try {
    execFileSync('sync')
    writeFileSync('/proc/sys/vm/drop_caches', '3')
    return true
  } catch {
    return false
  }
}

function memoryOf({ pid }: WayleaveServer): string {
  return whole(figuresOf(pid).megabytes)
}

/** A box of about the same number of points, whatever their number. */
function boxOf(request: number, width: number, points: number): string {
  const size = width * Math.sqrt(SMALL / points)
  const west = -170 + ((request * 37) % 320)
  const south = -75 + ((request * 17) % 140)
  return [west, south, west + size, south + size / 2].map((side) => side.toFixed(4)).join(',')
}

/** Points all over the world with columns of few and of many values, in an order that is not one of places. */
async function generateParquet(path: string, points: number): Promise<void> {
  const { connection, close } = await openDuckDb({ threads: 2, memoryLimit: '2GB', folders: [tmpdir()] })
  try {
    const share = (seed: number) => `(hash(i * 8 + ${seed}) % 1000003) / 1000003.0`
    await connection.run(`COPY (SELECT i + 1 AS id, 'k' || (hash(i) % 20) AS kind,
      'region ' || (hash(i * 3) % 200) AS region, (hash(i * 5) % 7)::INTEGER AS grade,
      1900 + (hash(i * 7) % 120)::INTEGER AS year, hash(i * 11) % 3 = 0 AS active,
      (hash(i * 13) % 100000)::INTEGER AS code, round(${share(1)}, 4) AS value,
      ('POINT (' || round(${share(2)} * 360 - 180, 6) || ' ' || round(${share(3)} * 170 - 85, 6) || ')')::GEOMETRY AS geometry
      FROM range(${points}) r(i)) TO '${path}' (FORMAT parquet)`)
  } finally {
    close()
  }
}
