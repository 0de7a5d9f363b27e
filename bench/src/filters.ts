import { readFileSync } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compileNodeFlags } from '@wayleave/geodata/compile'
import { type Bench, decimal, whole } from './bench.ts'
import { startBareServer } from './measure/bare-server.ts'
import { compare } from './measure/compare.ts'
import { generateGeojson, KINDS, randomNumbers } from './measure/generate.ts'
import { load } from './measure/load.ts'
import { longestStall } from './measure/longest-stall.ts'
import { idleWait, longestWait } from './measure/longest-wait.ts'
import { runMeasured } from './measure/measured-process.ts'
import { median } from './measure/median.ts'
import { type Opponent, openOpponent } from './measure/postgis.ts'
import { figuresOf } from './measure/process-figures.ts'
import { startWayleave, type WayleaveServer } from './measure/wayleave-server.ts'

const SIZES = [1_000_000, 5_000_000]
/** Each request has this many variants, which are sent in turn. */
const VARIANTS = 200
/** Variants of requests that no cache knows: more than the caches of conditions and counts can hold. */
const NEW_VARIANTS = 40_000
const compiler = fileURLToPath(new URL('./publish-process.ts', import.meta.url))
const columnsWriter = fileURLToPath(new URL('./columns-process.ts', import.meta.url))
const exporter = fileURLToPath(new URL('./export-process.ts', import.meta.url))

export interface FilterBenchOptions {
  sizes: number[]
  /** Measured rounds of a second; the median counts. */
  rounds: number
}

/** Filters, sort orders and facets, compared with the same page without a filter and with PostGIS. */
export const bench: Bench = (print) => benchFilters(print, { sizes: SIZES, rounds: 5 })

export async function benchFilters(
  print: (line: string) => void,
  { sizes, rounds }: FilterBenchOptions,
): Promise<void> {
  for (const rows of sizes) {
    const folder = await mkdtemp(join(tmpdir(), 'wayleave-bench-'))
    const server = await startWayleave()
    try {
      const opponent = await publish(print, server, folder, rows)
      try {
        await measure(print, server, opponent, rounds)
      } finally {
        await opponent.stop()
      }
    } finally {
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    }
  }
}

/** Publishes the points, and loads the same rows into PostGIS. Prints what publishing costs. */
async function publish(
  print: (line: string) => void,
  server: WayleaveServer,
  folder: string,
  rows: number,
): Promise<Opponent> {
  const source = join(folder, 'points.geojson')
  await generateGeojson(source, { features: rows })
  const snapshot = join(folder, 'snapshot')
  const compiled = await runMeasured(process.execPath, [...compileNodeFlags(), compiler, source, snapshot])
  const columns = await runMeasured(process.execPath, [...compileNodeFlags(), columnsWriter, snapshot])
  // The same program without any column, for the time that starting it takes.
  const start = await runMeasured(process.execPath, [...compileNodeFlags(), columnsWriter, snapshot, 'none'])
  const columnSeconds = columns.processorSeconds - start.processorSeconds
  const sizeOf = async (name: string) => (await stat(join(snapshot, name))).size
  const share = columnSeconds / (compiled.processorSeconds - columnSeconds)
  print(
    `${whole(rows)} points. Writing the compiled columns takes ${decimal(share)} of the processor time of the rest of publishing (aim: below 0.1); they have ${decimal((await sizeOf('rows.columns')) / (await sizeOf('rows.parquet')))} of the size of rows.parquet (aim: below 0.5). Peak memory of publishing: ${whole(compiled.peakMegabytes)} MB.\n`,
  )
  const csv = join(folder, 'points.csv')
  await runMeasured(process.execPath, [exporter, snapshot, 'csv', csv])
  await rm(snapshot, { recursive: true })
  await server.operate('publish', source, '--table', 'points')
  await rm(source)
  return openOpponent(csv)
}

interface Row {
  name: string
  /** If there are more than `VARIANTS`, each request is a new one. */
  paths: string[]
  /** The same questions to PostGIS. */
  sql: { text: string; values: unknown[][] }
}

const ITEMS = '/v1/ogc/collections/points/items?limit=10'

/** Filters of several common conditions, with another number each time. */
function newFilters(): Row[] {
  const random = randomNumbers(8)
  const kind = () => KINDS[Math.floor(random() * KINDS.length)]!
  const row = (name: string, where: string) => {
    const values = Array.from({ length: NEW_VARIANTS }, (): [string, number] => [kind(), random() * 1000])
    const textOf = ([of, number]: [string, number]) =>
      where.replaceAll('$1', `'${of}'`).replaceAll('$2::float8', String(number))
    return {
      name: `new each time: ${name}`,
      paths: values.map((each) => `${ITEMS}&filter=${encodeURIComponent(textOf(each))}`),
      sql: { text: `WHERE ${where}`, values: values.slice(0, VARIANTS) },
    }
  }
  return [
    row('AND', 'kind = $1 AND value < $2::float8'),
    row('OR', 'kind = $1 OR value < $2::float8'),
    row('IN and a range', "kind IN ($1, 'park') AND value < $2::float8"),
    row('three conditions', 'kind <> $1 AND active = true AND value < $2::float8'),
  ]
}

function rowsOf(deepCursor: string): Row[] {
  const random = randomNumbers(7)
  const many = <T>(make: () => T): T[] => Array.from({ length: VARIANTS }, make)
  const filter = (text: string) => `${ITEMS}&filter=${encodeURIComponent(text)}`
  const population = () => Math.floor(random() * 1_000_000)
  const row = <V extends unknown[]>(name: string, values: V[], path: (...v: V) => string, where: string) => ({
    name,
    paths: values.map((each) => path(...each)),
    sql: { text: where, values },
  })
  return [
    { name: 'no filter', paths: [ITEMS], sql: { text: '', values: [[]] } },
    row(
      'a common value (one in seven)',
      KINDS.map((kind): [string] => [kind]),
      (kind) => `${ITEMS}&kind=${kind}`,
      'WHERE kind = $1',
    ),
    row(
      'a single match',
      many((): [number] => [population()]),
      (n) => `${ITEMS}&population=${n}`,
      'WHERE population = $1',
    ),
    row(
      'a range of 1 % in a 20° box',
      many((): [number, number, number] => [random() * 990, random() * 340 - 170, random() * 150 - 75]),
      (from, west, south) =>
        `${filter(`value BETWEEN ${from} AND ${from + 10}`)}&bbox=${west},${south},${west + 20},${south + 10}`,
      'WHERE value BETWEEN $1::float8 AND $1::float8 + 10 AND geom && ST_MakeEnvelope($2::float8, $3::float8, $2::float8 + 20, $3::float8 + 10, 4326)',
    ),
    row(
      'IN of three',
      many((): [number, number, number] => [population(), population(), population()]),
      (...three) => filter(`population IN (${three.join(', ')})`),
      'WHERE population IN ($1, $2, $3)',
    ),
    row(
      'two conditions with AND',
      KINDS.map((kind): [string] => [kind]),
      (kind) => filter(`kind = '${kind}' AND active = true`),
      'WHERE kind = $1 AND active',
    ),
    {
      name: 'sorted by a number, first page',
      paths: [`${ITEMS}&sortby=value`],
      sql: { text: 'ORDER BY value', values: [[]] },
    },
    {
      name: 'sorted by a number, page behind half of the rows',
      paths: [deepCursor],
      sql: { text: 'WHERE value > $1 ORDER BY value', values: [[500]] },
    },
    ...newFilters(),
  ]
}

async function measure(
  print: (line: string) => void,
  server: WayleaveServer,
  opponent: Opponent,
  rounds: number,
): Promise<void> {
  const headers = { 'x-api-key': await server.createKey() }
  const get = async (path: string) => {
    const response = await fetch(new URL(path, server.origin), { headers })
    if (response.status !== 200) {
      throw new Error(`${path} responded with ${response.status}: ${await response.text()}`)
    }
    return response
  }
  const deep = (await (
    await get(`${ITEMS}&sortby=value&offset=${Math.floor(await opponent.count()) / 2}`)
  ).json()) as {
    links: { rel: string; href: string }[]
  }
  const next = new URL(deep.links.find(({ rel }) => rel === 'next')!.href)
  const rows = rowsOf(next.pathname + next.search)
  // Loads the columns and counts the matches, once for each variant. One request at a time, so that another
  // request waits for nothing but the longest slice of one.
  let longest = 0
  const stall = await longestStall(server, async () => {
    longest = await longestWait(server, async () => {
      for (const { paths } of rows) for (const path of paths.slice(0, VARIANTS)) await get(path)
      await facets(print, get)
    })
  })
  const idle = await idleWait(server)
  const rates = rows.map((): number[] => [])
  const costs = rows.map((): number[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [i, { paths }] of rows.entries()) {
      const requests = paths.map((path) => ({ path, headers }))
      await load({ origin: server.origin, requests, seconds: 0.3, warmUpSeconds: 0 })
      const before = figuresOf(server.pid).processorSeconds
      const result = await load({ origin: server.origin, requests, seconds: 1, warmUpSeconds: 0 })
      const spent = figuresOf(server.pid).processorSeconds - before
      if (result.errors > 0) throw new Error(`${rows[i]!.name}: ${result.errors} errors`)
      rates[i]!.push(result.requestsPerSecond)
      costs[i]!.push((spent * 1e6) / result.requestsPerSecond)
    }
  }
  print(
    '| limit 10, 16 connections | ours, pages/s | of the page without filter | PostGIS, queries/s | ratio | ours, processor µs | PostgreSQL, µs | with its client, µs | ratio |',
  )
  print('|---|--:|--:|--:|--:|--:|--:|--:|--:|')
  for (const [i, { name, sql }] of rows.entries()) {
    const rate = median(rates[i]!)
    const cost = median(costs[i]!)
    const theirs = await opponent.measure(sql.text, sql.values)
    const both = theirs.databaseMicroseconds + theirs.clientMicroseconds
    const figures = [
      whole(rate),
      decimal(rate / median(rates[0]!)),
      whole(theirs.queriesPerSecond),
      decimal(rate / theirs.queriesPerSecond, 1),
      whole(cost),
      whole(theirs.databaseMicroseconds),
      whole(both),
      decimal(both / cost, 1),
    ]
    print(`| ${name} | ${figures.join(' | ')} |`)
  }
  print(
    '\nThe rates are not of the same work: ours include HTTP, a key check and a log line, those of PostGIS only the protocol of the database. The processor time of PostGIS is that of its processes and of the client that parses the rows, without a server in front of it.',
  )
  print(
    '\nAims: 0.5 for a common value, 0.3 for a single match and for sort orders; five times PostGIS, also if no cache knows the filter (last column; a server in front of PostGIS, such as pg_featureserv, adds to its time).\n',
  )
  await exactCounts(print, server, headers)
  await documents(print, server, headers, get)
  print(
    `\nBeside single filters and facets, the longest stall of the event loop was ${decimal(stall, 1)} ms (aim: below 20 ms), and another request waited ${decimal(longest, 1)} ms at most (${decimal(idle, 1)} ms with nothing else to do), which includes waiting for a processor. Memory of the server: ${whole(megabytesOf(server.pid))} MB.\n`,
  )
}

/** What counting exactly takes, of filters that no cache knows. */
async function exactCounts(
  print: (line: string) => void,
  server: WayleaveServer,
  headers: Record<string, string>,
): Promise<void> {
  for (const { name, paths } of newFilters()) {
    const [hits, pages] = await Promise.all(
      ['&resulttype=hits', '&count=none'].map((more) =>
        paths.map((path) => ({ path: path + more, headers })),
      ),
    )
    const cost = async (requests: typeof hits) => {
      const order = { origin: server.origin, requests: requests!, seconds: 1, warmUpSeconds: 0 }
      await load({ ...order, seconds: 0.3 })
      const before = figuresOf(server.pid).processorSeconds
      const { requestsPerSecond } = await load(order)
      return ((figuresOf(server.pid).processorSeconds - before) * 1e3) / requestsPerSecond
    }
    const [exact, uncounted] = [await cost(hits), await cost(pages)]
    print(
      `The exact count, ${name}: ${decimal(exact)} ms of processor time for the whole request (aim: below 1.5 ms for a million rows); a page without a count ${decimal(uncounted)} ms.`,
    )
  }
  print('')
}

async function facets(
  print: (line: string) => void,
  get: (path: string) => Promise<Response>,
): Promise<void> {
  const path = '/v1/ogc/collections/points/facets?columns=kind,population,value,active,opened'
  for (const [name, filter] of [
    ['all rows', ''],
    ['a filter of 10 %', `&filter=${encodeURIComponent('value < 100')}`],
  ] as const) {
    const times: number[] = []
    for (let i = 0; i < 25; i++) {
      const began = performance.now()
      await (await get(path + filter)).text()
      times.push(performance.now() - began)
    }
    print(`Facets of five columns over ${name}: ${decimal(median(times.slice(5)), 1)} ms (aim: below 20 ms).`)
  }
}

/** One feature and one document, compared with a bare server that sends the same bytes. */
async function documents(
  print: (line: string) => void,
  server: WayleaveServer,
  headers: Record<string, string>,
  get: (path: string) => Promise<Response>,
): Promise<void> {
  for (const [name, path, aim] of [
    ['One feature by id', '/v1/ogc/collections/points/items/123456', 0.5],
    ['The metadata of a collection', '/v1/ogc/collections/points', 0.6],
  ] as const) {
    const body = await (await get(path)).bytes()
    const bare = await startBareServer({ headers: { 'content-type': 'application/json' }, body })
    try {
      const request = { requests: [{ path, headers }] }
      const { ratio, processorRatio } = await compare(
        { name: 'wayleave', server, load: request },
        { name: 'node:http', server: bare, load: request },
      )
      print(
        `${name}: ${decimal(ratio)} of the rate of a bare server (aim: ${aim}), by processor time ${decimal(processorRatio)}.`,
      )
    } finally {
      await bare.stop()
    }
  }
}

function megabytesOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
}
