import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { countriesGeojson } from '@wayleave/demo/world.ts'
import { type Bench, decimal, whole } from './bench.ts'
import { startBareServer } from './measure/bare-server.ts'
import { type Comparison, compare, compareProcessorTime, type Side } from './measure/compare.ts'
import { generateGeojson, randomNumbers } from './measure/generate.ts'
import { idleWait, longestWait } from './measure/longest-wait.ts'
import { startWayleave, type WayleaveServer } from './measure/wayleave-server.ts'

const POINTS: [table: string, features: number][] = [
  ['points_10k', 10_000],
  ['points_1m', 1_000_000],
  ['points_5m', 5_000_000],
]
const POLYGONS: [table: string, features: number] = ['polygons_100k', 100_000]
/** The number of different pages, which are requested in turn. */
const PAGES = 200
/** So many that each is forgotten before it is requested again. */
const NEW_PAGES = 40_000
const ROWS: PageRow[] = [
  { table: 'countries', box: 20, limit: 10 },
  { table: 'countries', box: 360, limit: 1000 },
  { table: 'points_10k', box: 20, limit: 10 },
  { table: 'points_1m', box: 2, limit: 10 },
  { table: 'points_1m', box: 20, limit: 10 },
  { table: 'points_1m', box: 20, limit: 10, isNew: true },
  { table: 'points_1m', box: 360, limit: 10 },
  { table: 'points_1m', box: 20, limit: 1000 },
  { table: 'points_1m', box: 360, limit: 1000 },
  { table: 'points_5m', box: 20, limit: 10 },
  { table: 'points_5m', box: 20, limit: 1000 },
  { table: 'polygons_100k', box: 20, limit: 10 },
  { table: 'polygons_100k', box: 20, limit: 10, isNew: true },
  { table: 'polygons_100k', box: 20, limit: 1000 },
  { table: 'points_1m', filter: oneValue, limit: 10 },
  { table: 'points_1m', filter: oneValue, limit: 10, isNew: true },
  { table: 'points_1m', filter: valueAndRange, limit: 10 },
  { table: 'points_1m', filter: valueAndRange, limit: 10, isNew: true },
]

/** The pages of a row: in boxes of a width in degrees, or by filters. */
interface PageRow {
  table: string
  limit: number
  box?: number
  filter?: (random: () => number) => string
  /** Whether no page was requested before. */
  isNew?: boolean
}

function oneValue(random: () => number): string {
  return `population = ${Math.floor(random() * 1_000_000)}`
}

function valueAndRange(random: () => number): string {
  return `kind = 'well' AND value < ${(random() * 1000).toFixed(4)}`
}

const FILTERS = [
  'population = 123456',
  "kind = 'well' AND value < 0.5",
  "name LIKE '%Hill 99%'",
  "updated > TIMESTAMP('2023-02-28T00:00:00Z') AND active = true",
]

const run = promisify(execFile)
const command = join(import.meta.dirname, '../../server/bin/wayleave.js')

/** Pages of features compared with a bare server that sends the same bodies in turn. */
export const bench: Bench = async (print) => {
  const server = await startWayleave()
  try {
    const key = await publishAll(server, print)
    const client = new PageClient(server, { 'x-api-key': key })
    print('| dataset | pages | limit | KB | ours, pages/s | bare, pages/s | ratio | by processor |')
    print('|---|---|--:|--:|--:|--:|--:|--:|')
    for (const row of ROWS) {
      const { result, bytes } = await client.compare(pagePaths(row))
      const cells = [row.table, pagesOf(row), row.limit, decimal(bytes / 1000, 1), figures(result)]
      print(`| ${cells.join(' | ')} |`)
    }
    print(
      '\nAims: at least 0.55 at limit 10, at least 0.6 at limit 1000. New pages were not requested before.\n',
    )
    const [, medium, large] = await client.compareTimes(
      POINTS.map(([table]) => pagePaths({ table, box: 20, limit: 10 })),
    )
    print(
      `20° boxes at limit 10, by processor time: 5 M takes ${decimal(large! / medium!)} of 1 M, 1 M takes ${decimal(medium!)} of 10 k (aim: within 1.3).`,
    )
    await lastPage(client, print)
    await filters(client, server, print)
  } finally {
    await server.stop()
  }
}

function items(table: string): string {
  return `/v1/ogc/collections/${table}/items`
}

function pagePaths({ table, limit, box, filter, isNew = false }: PageRow): string[] {
  const pages = `${items(table)}?limit=${limit}`
  const count = isNew ? NEW_PAGES : PAGES
  if (box === 360) return [`${pages}&bbox=-180,-90,180,90`]
  const random = randomNumbers(count + limit)
  return Array.from({ length: count }, () =>
    filter ? `${pages}&filter=${encodeURIComponent(filter(random))}` : `${pages}&bbox=${boxOf(box!, random)}`,
  )
}

function pagesOf({ box, filter, isNew }: PageRow): string {
  const pages = box === 360 ? 'world' : box ? `${box}°` : filter!(() => 0.5)
  return isNew ? `${pages}, new` : pages
}

function figures({ ours, theirs, ratio, processorRatio }: Comparison): string {
  const rates = [ours, theirs].map((side) => whole(side.requestsPerSecond))
  return [...rates, decimal(ratio), decimal(processorRatio)].join(' | ')
}

class PageClient {
  readonly server: WayleaveServer
  readonly headers: Record<string, string>

  constructor(server: WayleaveServer, headers: Record<string, string>) {
    this.server = server
    this.headers = headers
  }

  async get(path: string): Promise<{ bytes: Uint8Array; headers: Headers }> {
    const response = await fetch(new URL(path, this.server.origin), { headers: this.headers })
    if (response.status !== 200) throw new Error(`${path} responded with ${response.status}`)
    return { bytes: await response.bytes(), headers: response.headers }
  }

  /** The bare server sends the bodies of many pages, so that both servers have similar CPU cache misses. */
  async compare(paths: string[]): Promise<{ result: Comparison; bytes: number }> {
    const answers = []
    for (const path of paths.slice(0, PAGES)) answers.push(await this.get(path))
    const bodies = answers.map(({ bytes }) => bytes)
    const headers = Object.fromEntries(
      [...answers[0]!.headers].filter(([name]) => !MADE_BY_NODE.includes(name)),
    )
    const bare = await startBareServer({ headers, bodies })
    try {
      const result = await compare(this.#side(paths), {
        name: 'node:http',
        server: bare,
        load: { connections: 16, requests: [{ path: '/', headers: this.headers }] },
      })
      return { result, bytes: bodies.reduce((sum, body) => sum + body.length, 0) / bodies.length }
    } finally {
      await bare.stop()
    }
  }

  /** The server's CPU time for pages, relative to those of the first list. */
  async compareTimes(lists: string[][]): Promise<number[]> {
    for (const path of lists.flat()) await this.get(path)
    return compareProcessorTime(lists.map((paths) => this.#side(paths)))
  }

  #side(paths: string[]): Side {
    const requests = paths.map((path) => ({ path, headers: this.headers }))
    return { name: 'wayleave', server: this.server, load: { connections: 16, requests } }
  }
}

/** Node's HTTP server adds these headers itself. */
const MADE_BY_NODE = ['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding']

function boxOf(size: number, random: () => number): string {
  const west = -180 + random() * (360 - size)
  const south = -80 + random() * (160 - size / 2)
  return [west, south, west + size, south + size / 2].map((side) => side.toFixed(3)).join(',')
}

async function publishAll(server: WayleaveServer, print: (line: string) => void): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'wayleave-bench-'))
  try {
    const countries = join(folder, 'countries.geojson')
    await writeFile(countries, JSON.stringify(countriesGeojson()))
    await operate(server, 'publish', countries, '--table', 'countries')
    for (const [table, features] of [...POINTS, POLYGONS]) {
      const path = join(folder, `${table}.geojson`)
      await generateGeojson(path, { features, shape: table === POLYGONS[0] ? 'polygon' : 'point' })
      await operate(server, 'publish', path, '--table', table)
      await rm(path)
    }
    const points = POINTS.map(([, features]) => whole(features)).join(', ')
    print(`Published: countries of the world, ${points} points, and ${whole(POLYGONS[1])} polygons.\n`)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  const args = ['key', 'create', '--platform', '--name', 'bench', '--permissions', 'read']
  return (JSON.parse(await operate(server, ...args)) as { secret: string }).secret
}

async function operate({ dataDir }: WayleaveServer, ...args: string[]): Promise<string> {
  const env = { ...process.env, WAYLEAVE_DATA_DIR: dataDir }
  return (await run(process.execPath, [command, ...args, '--json'], { env, maxBuffer: 1 << 24 })).stdout
}

async function lastPage(client: PageClient, print: (line: string) => void): Promise<void> {
  const first = `${items('points_1m')}?limit=100`
  const { bytes } = await client.get(`${first}&offset=999800`)
  const { links } = JSON.parse(Buffer.from(bytes).toString()) as { links: { rel: string; href: string }[] }
  const last = new URL(links.find(({ rel }) => rel === 'next')!.href)
  const [, slower] = await client.compareTimes([[first], [last.pathname + last.search]])
  print(`The last page of 1 M points at limit 100 takes ${decimal(slower!)} of the first (aim: within 1.3).`)
}

/** Measures each filter separately, and how long an unrelated cheap request waits meanwhile. */
async function filters(
  client: PageClient,
  server: WayleaveServer,
  print: (line: string) => void,
): Promise<void> {
  print('\n| filter on 1 M points, limit 10 | median ms | longest wait of another request, ms |')
  print('|---|--:|--:|')
  for (const filter of FILTERS) {
    const path = `${items('points_1m')}?limit=10&filter=${encodeURIComponent(filter)}`
    const times: number[] = []
    const longest = await longestWait(server, async () => {
      for (let i = 0; i < 25; i++) {
        const began = performance.now()
        await client.get(path)
        times.push(performance.now() - began)
      }
    })
    times.splice(0, 5)
    times.sort((a, b) => a - b)
    print(`| ${filter} | ${decimal(times[10]!, 1)} | ${decimal(longest, 1)} |`)
  }
  const idle = decimal(await idleWait(server), 1)
  print(
    `\nAims: below 60 ms, and no stall of the event loop above 20 ms (of a server with nothing to do: ${idle} ms).`,
  )
}
