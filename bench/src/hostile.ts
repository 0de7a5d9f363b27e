import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { type Bench, decimal, whole } from './bench.ts'
import { attackRoutes } from './measure/attack-routes.ts'
import { generateGeojson, randomNumbers } from './measure/generate.ts'
import { hostileRequests } from './measure/hostile-requests.ts'
import { createOrganizationKeys } from './measure/organization-keys.ts'
import { figuresOf } from './measure/process-figures.ts'
import { signIn } from './measure/sign-in.ts'
import { startWayleave, type WayleaveServer } from './measure/wayleave-server.ts'

const MERCATOR = 'http://www.opengis.net/def/crs/EPSG/0/3857'
/** Max time that an attack waits for its own responses, in ms. */
const ATTACK_MS = 30_000
/** How long the server is watched after the attacker has left, in ms. */
const AFTER_MS = 2000
const OTHERS_PAUSE_MS = 20
/** How many keys of one organization publish at once. */
const COLLEAGUES = 10

const SIZES = {
  /** Texts of 200 characters that are not ASCII: a few are decided by compiled columns, many by the database. */
  fewTexts: 5000,
  manyTexts: 100_000,
  polygons: 1500,
  corners: 2000,
  points: 100_000,
}

/** What requests that exhaust a service do to a server on which others read pages, and to its machine. */
export const bench: Bench = async (print, { rows = '' }) => {
  const folder = await mkdtemp(join(tmpdir(), 'wayleave-bench-'))
  const server = await startWayleave()
  try {
    await publish(server, folder, SIZES)
    const key = await server.createKey()
    const other = await server.createKey()
    const publisher = await server.createKey('read,write')
    const token = await signIn(server)
    const colleagues = await createOrganizationKeys(server, token, { count: COLLEAGUES, table: 'own' })
    const requests = hostileRequests({ key, publisher, colleagues, token }, rows)
    await attackRoutes(server, other, requests, print)
    // Opens the datasets, so that the first pages of others are not those of a cold start.
    for (const table of ['few', 'many', 'polygons']) await page(server, other, table)
    print(
      '| attack | responses | p99 of others, ms | longest, ms | others refused | memory above idle, MB | processor s after it left |',
    )
    print('|---|---|--:|--:|--:|--:|--:|')
    const uploads = endlessUploads(server, { publisher, file: endlessFile(folder) })
    for (const attack of [...attacks(server, key), uploads].filter(({ name }) => name.includes(rows))) {
      const result = await measure(server, other, attack)
      print(
        `| ${attack.name} | ${result.responses} | ${decimal(result.p99, 1)} | ${decimal(result.longest, 1)} | ${result.refused} of ${result.pages} | ${whole(result.megabytes)} | ${decimal(result.secondsAfter)} |`,
      )
    }
    print(
      '\nAims: below 200 ms at p99, below 1,000 MB, below 1 s. The first row shows what the other key costs by itself.',
    )
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

interface Attack {
  name: string
  /** Sends the requests; resolves when the client has got or abandoned all responses. */
  run(): Promise<number[]>
}

const LIKE = (i: number) => `casei(accenti(txt)) LIKE casei(accenti('%q${i}z%'))`

function attacks(server: WayleaveServer, key: string): Attack[] {
  const folded = Array.from({ length: 200 }, (_, i) => LIKE(i)).join(' OR ')
  const filter = (table: string, text: string) => `${table}/items?limit=1&filter=${encodeURIComponent(text)}`
  const get = (path: string, closeAfterMs = ATTACK_MS) => status(server, key, path, closeAfterMs)
  const slow = (i: number) => filter('many', `${folded} OR n = ${-1 - i}`)
  const largePage = (form: string) => `polygons/items?limit=10000&${form}`
  const twelve = (path: (i: number) => string, closeAfterMs: number) => () =>
    Promise.all(Array.from({ length: 12 }, (_, i) => get(path(i), closeAfterMs)))
  return [
    // What the other key's pages cost and wait for by themselves, on a machine that has other work too.
    { name: 'none, for 2 s', run: async () => [await delay(2000, 0)] },
    { name: '200 folded LIKE, few texts', run: async () => [await get(filter('few', folded))] },
    { name: '200 folded LIKE, many texts', run: async () => [await get(filter('many', folded))] },
    {
      name: '12 pages in EPSG:3857, closed after 30 ms',
      run: twelve(() => largePage(`crs=${MERCATOR}`), 30),
    },
    { name: '12 pages in EPSG:3857, read', run: twelve(() => largePage(`crs=${MERCATOR}`), ATTACK_MS) },
    { name: '12 HTML pages, closed after 30 ms', run: twelve(() => largePage('f=html'), 30) },
    { name: '8 slow filters', run: () => Promise.all(Array.from({ length: 8 }, (_, i) => get(slow(i)))) },
    { name: '12 slow filters, closed after 300 ms', run: twelve(slow, 300) },
  ]
}

/** Uploads whose reader would never end, as many as are published at once. They are cancelled after a while. */
function endlessUploads(
  server: WayleaveServer,
  { publisher, file }: { publisher: string; file: Uint8Array<ArrayBuffer> },
): Attack {
  const headers = { 'x-api-key': publisher }
  const send = async (table: string, body: Uint8Array<ArrayBuffer>) => {
    const response = await fetch(`${server.origin}/v1/dataset/${table}?filename=x`, {
      method: 'PUT',
      body,
      headers,
    })
    return { status: response.status, job: ((await response.json()) as { id: string }).id }
  }
  const run = async () => {
    const endless = await Promise.all([send('stuck', file), send('stuck2', file)])
    await delay(3000)
    const cancelled = await Promise.all(
      endless.map(({ job }) => fetch(`${server.origin}/v1/jobs/${job}`, { method: 'DELETE', headers })),
    )
    return [...endless, ...cancelled].map(({ status: each }) => each)
  }
  return { name: '2 uploads that never end, cancelled after 3 s', run }
}

/** A GeoPackage whose only layer is a view that computes without an end. */
function endlessFile(folder: string): Uint8Array<ArrayBuffer> {
  const path = join(folder, 'endless.gpkg')
  const database = new DatabaseSync(path)
  database.exec('CREATE TABLE gpkg_contents (table_name TEXT, data_type TEXT)')
  database.exec("INSERT INTO gpkg_contents VALUES ('layer', 'attributes')")
  database.exec(
    `CREATE TABLE ten (i); INSERT INTO ten VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
     CREATE VIEW layer AS SELECT a.i FROM ten a, ten b, ten c, ten d, ten e, ten f, ten g, ten h, ten i, ten j
       WHERE a.i + b.i + c.i + d.i + e.i + f.i + g.i + h.i + i.i + j.i < 0`,
  )
  database.close()
  return new Uint8Array(readFileSync(path))
}

interface Result {
  responses: string
  p99: number
  longest: number
  pages: number
  refused: number
  megabytes: number
  secondsAfter: number
}

/** Runs an attack while another key reads pages, a filtered one among them. */
async function measure(server: WayleaveServer, other: string, attack: Attack): Promise<Result> {
  const idle = figuresOf(server.pid).megabytes
  let peak = idle
  const watching = setInterval(() => {
    peak = Math.max(peak, figuresOf(server.pid).megabytes)
  }, 20)
  let isRunning = true
  const waits: number[] = []
  let refused = 0
  const reading = (async () => {
    for (let i = 0; isRunning; i++) {
      const began = performance.now()
      const isServed = await page(server, other, 'few', i % 5 === 0 ? `&filter=n=${i}` : '')
      waits.push(performance.now() - began)
      if (!isServed) refused++
      await delay(OTHERS_PAUSE_MS)
    }
  })()
  const statuses = await attack.run()
  // Work that outlives its client delays others too, so they go on reading.
  const before = figuresOf(server.pid).processorSeconds
  await delay(AFTER_MS)
  const secondsAfter = figuresOf(server.pid).processorSeconds - before
  isRunning = false
  await reading
  clearInterval(watching)
  const sorted = waits.toSorted((a, b) => a - b)
  return {
    responses: summary(statuses),
    p99: sorted[Math.floor(sorted.length * 0.99)]!,
    longest: sorted.at(-1)!,
    pages: waits.length,
    refused,
    megabytes: peak - idle,
    secondsAfter,
  }
}

/** Such as `200 × 2, 503 × 10`; 0 is a request that the client closed. */
function summary(statuses: number[]): string {
  const counts = new Map<number, number>()
  for (const each of statuses) counts.set(each, (counts.get(each) ?? 0) + 1)
  return Array.from(counts, ([code, count]) => `${code === 0 ? 'closed' : code} × ${count}`).join(', ')
}

async function page(server: WayleaveServer, key: string, table: string, more = ''): Promise<boolean> {
  const url = `${server.origin}/v1/ogc/collections/${table}/items?limit=10${more}`
  const response = await fetch(url, { headers: { 'x-api-key': key } })
  await response.arrayBuffer()
  return response.status === 200
}

async function status(
  server: WayleaveServer,
  key: string,
  path: string,
  closeAfterMs: number,
): Promise<number> {
  try {
    const response = await fetch(`${server.origin}/v1/ogc/collections/${path}`, {
      headers: { 'x-api-key': key },
      signal: AbortSignal.timeout(closeAfterMs),
    })
    await response.arrayBuffer()
    return response.status
  } catch {
    return 0
  }
}

async function publish(server: WayleaveServer, folder: string, sizes: typeof SIZES): Promise<void> {
  const points = join(folder, 'points.geojson')
  await generateGeojson(points, { features: sizes.points })
  await server.operate('publish', points, '--table', 'points')
  const random = randomNumbers(3)
  const files: [string, string[]][] = [
    ['few', Array.from({ length: sizes.fewTexts }, (_, i) => textFeature(i, random))],
    ['many', Array.from({ length: sizes.manyTexts }, (_, i) => textFeature(i, random))],
    ['polygons', Array.from({ length: sizes.polygons }, (_, i) => polygonFeature(i, sizes.corners))],
  ]
  for (const [table, features] of files) {
    const path = join(folder, `${table}.geojson`)
    await writeFile(path, `{"type":"FeatureCollection","features":[\n${features.join(',\n')}\n]}`)
    await server.operate('publish', path, '--table', table)
    await rm(path)
  }
}

const LETTERS = [...'äöüßéèêàçñøåæłžščřđИванПетрΩμέγα東京大阪ÅÉÍÓÚ']

function textFeature(i: number, random: () => number): string {
  const txt = Array.from({ length: 200 }, () => LETTERS[Math.floor(random() * LETTERS.length)]!).join('')
  const geometry = { type: 'Point', coordinates: [(i % 360) - 180, (i % 170) - 85] }
  return JSON.stringify({ type: 'Feature', geometry, properties: { n: i, txt } })
}

function polygonFeature(i: number, corners: number): string {
  const ring = Array.from({ length: corners }, (_, k) => {
    const angle = (k / corners) * 2 * Math.PI
    return [(i % 300) - 150 + Math.cos(angle) / 3, (i % 100) - 50 + Math.sin(angle) / 3]
  })
  const geometry = { type: 'Polygon', coordinates: [[...ring, ring[0]]] }
  return JSON.stringify({ type: 'Feature', geometry, properties: { n: i } })
}
