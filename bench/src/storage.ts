import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { startPostgres } from '../../scripts/test-servers/postgres.ts'
import { ensurePython } from '../../scripts/test-servers/python.ts'
import { startS3 } from '../../scripts/test-servers/s3.ts'
import { TcpProxy } from '../../scripts/test-servers/tcp-proxy.ts'
import { type Bench, decimal, whole } from './bench.ts'
import { compare, type Side } from './measure/compare.ts'
import { generateGeojson } from './measure/generate.ts'
import { load } from './measure/load.ts'
import { figuresOf } from './measure/process-figures.ts'
import { startWayleave, type WayleaveServer } from './measure/wayleave-server.ts'

const SMALL = 1000
const MEDIUM = 1_000_000
const LARGE = 5_000_000
const DATASETS = 10_000
/** The delays of the link in each direction, in ms. What takes longer on the slower one are round trips. */
const LINKS_MS = [20, 120] as const
const BOXES = 100
/** How often the pages of two nodes are measured; an odd number, because the median counts. */
const ROUNDS = 5

type Print = (line: string) => void

/** What all nodes of the installation on a bucket share. */
interface Shared {
  settings: Record<string, string>
  databaseUrl: string
  key: string
}

/** Snapshots in a bucket, which `rclone serve s3` serves on the same machine. */
export const bench: Bench = async (print) => {
  const stops: (() => Promise<unknown>)[] = []
  const track = async <T extends { stop(): Promise<unknown> }>(starting: Promise<T>): Promise<T> => {
    const server = await starting
    stops.unshift(() => server.stop())
    return server
  }
  try {
    const python = process.env['WAYLEAVE_TEST_PYTHON'] ?? (await ensurePython())
    const postgres = await track(startPostgres())
    const s3 = await track(startS3(python))
    const settings = {
      ...s3.variables,
      WAYLEAVE_DATABASE_URL: postgres.url,
      WAYLEAVE_STORAGE_URL: 's3://wayleave/bench',
      WAYLEAVE_S3_ENDPOINT: s3.url,
    }
    // On PostgreSQL too, so that only the storage differs.
    const folderDatabase = await newDatabase(postgres.url)
    const onFolder = await track(startWayleave({ WAYLEAVE_DATABASE_URL: folderDatabase }))
    const first = await track(startWayleave(settings))
    const shared = { settings, databaseUrl: postgres.url, key: await first.createKey() }
    const folderKey = await onFolder.createKey()
    await publish(MEDIUM, 'medium', [onFolder, first])
    await publish(LARGE, 'large', [first])
    await publish(SMALL, 'small', [first])
    print(`Published ${whole(MEDIUM)} points to a folder and to the bucket, ${whole(LARGE)} to the bucket.\n`)

    const second = await track(startWayleave(settings))
    for (const table of ['medium', 'large']) await coldPage(second, table, shared, print)
    const times: number[] = []
    for (const delayMs of LINKS_MS) {
      const { proxy, url } = await TcpProxy.open(s3.url, (close) => stops.unshift(close))
      proxy.delayMs = delayMs
      const far = await track(startWayleave({ ...settings, WAYLEAVE_S3_ENDPOINT: url.replace(/\/$/, '') }))
      times.push(await farPage(far, shared))
    }
    roundTrips(times as [number, number], print)

    // A second node on the same folder shows how much two equal nodes differ.
    const control = await track(
      startWayleave({
        WAYLEAVE_DATABASE_URL: folderDatabase,
        WAYLEAVE_STORAGE_URL: pathToFileURL(onFolder.dataDir).href,
      }),
    )
    const warm = await track(startWayleave(settings))
    await warmPages({ bucket: [warm, shared.key], folder: [onFolder, folderKey], control }, print)
    const paths = pages('medium', 10)
    await twoNodes(
      side('first', first, shared.key, paths),
      {
        shared: side('second', second, shared.key, paths),
        separate: side('folder', onFolder, folderKey, paths),
      },
      print,
    )
    await manyDatasets(shared, print)
  } finally {
    for (const stop of stops) await stop().catch(() => {})
  }
}

async function newDatabase(server: string): Promise<string> {
  const client = new pg.Client(server)
  await client.connect()
  await client.query('CREATE DATABASE folder').finally(() => client.end())
  const url = new URL(server)
  url.pathname = '/folder'
  return url.href
}

async function publish(features: number, table: string, servers: WayleaveServer[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'wayleave-bench-'))
  try {
    const path = join(folder, `${table}.geojson`)
    await generateGeojson(path, { features })
    for (const server of servers) await server.operate('publish', path, '--table', table)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const items = (table: string, query: string) => `/v1/ogc/collections/${table}/items?${query}`

/** The same boxes in every run. */
function pages(table: string, limit: number): string[] {
  return Array.from({ length: BOXES }, (_, i) => {
    const west = -180 + ((i * 37) % 340)
    const south = -80 + ((i * 53) % 140)
    return items(table, `limit=${limit}&bbox=${west},${south},${west + 20},${south + 10}`)
  })
}

async function get(server: WayleaveServer, path: string, key: string): Promise<Response> {
  const response = await fetch(new URL(path, server.origin), { headers: { 'x-api-key': key } })
  if (response.status !== 200) throw new Error(`${path} responded ${response.status}`)
  return response
}

async function timed(server: WayleaveServer, path: string, key: string): Promise<number> {
  const began = performance.now()
  await (await get(server, path, key)).bytes()
  return performance.now() - began
}

/** The counters of the node's requests to the bucket. */
async function fetched(server: WayleaveServer): Promise<{ requests: number; bytes: number }> {
  const text = await (await fetch(new URL('/metrics', server.origin))).text()
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
  return {
    requests: value('wayleave_storage_requests_total'),
    bytes: value('wayleave_storage_bytes_total\\{direction="read"\\}'),
  }
}

async function coldPage(server: WayleaveServer, table: string, { key }: Shared, print: Print): Promise<void> {
  // The node lists the bucket once in the background.
  await delay(2000)
  const size = await fetch(new URL(`/v1/dataset/${table}/files/geojson`, server.origin), {
    method: 'HEAD',
    headers: { 'x-api-key': key, 'accept-encoding': 'identity' },
  })
  const packBytes = Number(size.headers.get('content-length'))
  const before = await fetched(server)
  const opening = await timed(server, items(table, 'limit=10&bbox=5,45,25,55'), key)
  const opened = await fetched(server)
  const next = await timed(server, items(table, 'limit=10&bbox=-100,30,-80,40'), key)
  const after = await fetched(server)
  const share = ((after.bytes - opened.bytes) / packBytes) * 100
  print(
    `${table}: the first page on an empty cache took ${whole(opening)} ms and ${opened.requests - before.requests} requests (${decimal((opened.bytes - before.bytes) / 1e6, 1)} MB, mostly the index; the pack has ${decimal(packBytes / 1e6, 0)} MB). A page elsewhere: ${whole(next)} ms, ${after.requests - opened.requests} requests, ${decimal(share, 3)} % of the pack (aim: under 1 %).`,
  )
}

/** The first page of a dataset over a slow link, on a node that has served another dataset. */
async function farPage(server: WayleaveServer, { key }: Shared): Promise<number> {
  await delay(3000)
  // The first request of a process also compiles its code.
  await timed(server, items('small', 'limit=10'), key)
  return timed(server, items('medium', 'limit=10&bbox=5,45,25,55'), key)
}

function roundTrips([near, far]: [number, number], print: Print): void {
  const [nearMs, farMs] = LINKS_MS
  const trips = (far - near) / (2 * (farMs - nearMs))
  print(
    `\nThe first page of ${whole(MEDIUM)} points on an empty cache took ${whole(near)} ms over a link of ${2 * nearMs} ms, and ${whole(far)} ms over one of ${2 * farMs} ms: ${decimal(trips, 1)} round trips (aim: at most four).\n`,
  )
}

function side(name: string, server: WayleaveServer, key: string, paths: string[]): Side {
  const requests = paths.map((path) => ({ path, headers: { 'x-api-key': key } }))
  return { name, server, load: { connections: 16, requests } }
}

interface WarmNodes {
  /** Each with its key. */
  bucket: [WayleaveServer, string]
  folder: [WayleaveServer, string]
  /** On the same folder and database. */
  control: WayleaveServer
}

async function warmPages({ bucket, folder, control }: WarmNodes, print: Print): Promise<void> {
  print(
    `| warm pages of ${whole(MEDIUM)} points | bucket, pages/s | folder, pages/s | ratio | by processor | control by processor |`,
  )
  print('|---|--:|--:|--:|--:|--:|')
  for (const limit of [10, 1000]) {
    const paths = pages('medium', limit)
    const nodes = { bucket, folder, control: [control, folder[1]] as const }
    for (const path of paths) {
      for (const [server, key] of Object.values(nodes)) await (await get(server, path, key)).bytes()
    }
    const sideOf = (name: keyof typeof nodes) => {
      const [server, key] = nodes[name]
      return side(name, server, key, paths)
    }
    const { ours, theirs, ratio, processorRatio } = await compare(sideOf('bucket'), sideOf('folder'))
    const same = await compare(sideOf('control'), sideOf('folder'))
    print(
      `| limit ${limit} | ${whole(ours.requestsPerSecond)} | ${whole(theirs.requestsPerSecond)} | ${decimal(ratio)} | ${decimal(processorRatio)} | ${decimal(same.processorRatio)} |`,
    )
  }
  print('\nAim: at least 0.95. The control compares two equal nodes on the folder.\n')
}

/**
 * Whether a node needs more processor time for a page while another node of the same installation serves too. Two
 * busy processes share the caches of the processor in any case, so the other side is a neighbor that shares
 * nothing with it: a node on a folder, with its own database.
 */
async function twoNodes(
  first: Side,
  neighbors: { shared: Side; separate: Side },
  print: Print,
): Promise<void> {
  const beside = async (neighbor: Side | null) => {
    const before = figuresOf(first.server.pid).processorSeconds
    const [{ requestsPerSecond }] = await Promise.all([
      load({ origin: first.server.origin, ...first.load, connections: 4, seconds: 2 }),
      neighbor && load({ origin: neighbor.server.origin, ...neighbor.load, connections: 4, seconds: 2 }),
    ])
    return requestsPerSecond / (figuresOf(first.server.pid).processorSeconds - before)
  }
  for (const neighbor of [neighbors.shared, neighbors.separate]) await beside(neighbor)
  const ratios: { shared: number; separate: number; each: number }[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const [alone, shared, separate] = [
      await beside(null),
      await beside(neighbors.shared),
      await beside(neighbors.separate),
    ]
    ratios.push({ shared: shared / alone, separate: separate / alone, each: shared / separate })
  }
  const median = (name: keyof (typeof ratios)[number]) =>
    decimal(ratios.map((ratio) => ratio[name]).toSorted((a, b) => a - b)[ROUNDS >> 1]!)
  print(
    `Beside a node of the same installation, a node serves ${median('shared')} times the pages that it serves alone for the same processor time; beside a node that shares nothing with it, ${median('separate')} times: ${median('each')} (aim: 1, no shared contention).`,
  )
}

/** The catalog is filled by SQL: 10,000 datasets that all have the manifest of a small one. */
async function manyDatasets({ settings, databaseUrl }: Shared, print: Print): Promise<void> {
  const started = async () => {
    const began = performance.now()
    const server = await startWayleave(settings)
    const milliseconds = performance.now() - began
    const { processorSeconds } = figuresOf(server.pid)
    await delay(3000)
    const { megabytes } = figuresOf(server.pid)
    // Reads the list of all datasets into memory.
    await (await fetch(new URL('/v1/datasets?limit=100', server.origin))).bytes()
    await delay(2000)
    const listed = figuresOf(server.pid).megabytes
    await server.stop()
    return { milliseconds, processorSeconds, megabytes, listed }
  }
  const few = await started()
  await copyDataset(databaseUrl)
  const many = await started()
  print(
    `A node starts in ${whole(many.milliseconds)} ms with ${whole(DATASETS)} datasets in the catalog and in ${whole(few.milliseconds)} ms with three (aim: under 2,000 ms), with ${decimal(many.processorSeconds)} and ${decimal(few.processorSeconds)} s of processor time; three seconds later its processes use ${whole(many.megabytes)} and ${whole(few.megabytes)} MB, and after a list of datasets ${whole(many.listed)} and ${whole(few.listed)} MB (aim: the same).`,
  )
}

async function copyDataset(databaseUrl: string): Promise<void> {
  const client = new pg.Client(databaseUrl)
  await client.connect()
  try {
    for (const table of ['datasets', 'versions']) {
      const columns = await client.query<{ column_name: string }>(
        'SELECT column_name FROM information_schema.columns WHERE table_name = $1 AND table_schema = current_schema()',
        [table],
      )
      const names = columns.rows.map(({ column_name }) => column_name)
      const values = names.map((name) => {
        if (name === 'table_name') return "'copy_' || n"
        return name === 'snapshot' ? "'copy_' || lpad(n::text, 12, '0')" : name
      })
      await client.query(
        `INSERT INTO ${table} (${names.join(', ')}) SELECT ${values.join(', ')} FROM ${table}, generate_series(1, ${DATASETS}) AS n WHERE table_name = 'medium'`,
      )
    }
  } finally {
    await client.end()
  }
}
