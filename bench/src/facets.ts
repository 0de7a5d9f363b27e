import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Bench, decimal, whole } from './bench.ts'
import { generateGeojson, KINDS } from './generate.ts'
import { longestWait } from './longest-wait.ts'
import { startWayleave, type WayleaveServer } from './wayleave-server.ts'

const ROWS = 1_000_000
/** Clicks of each kind; each has another filter, so that no response comes from a cache. */
const CLICKS = 25
const VIEW = 'S_INTERSECTS(geometry, BBOX(-60, -30, 60, 50))'

/** What a click in the explorer filters by. The number makes every filter another one. */
const KINDS_OF_CLICKS: { name: string; filter: (click: number) => string; own: string }[] = [
  {
    name: 'a value of a text column',
    filter: (click) => `kind = '${KINDS[click % KINDS.length]}' AND number > ${click}`,
    own: 'kind',
  },
  {
    name: 'a range of numbers',
    filter: (click) => `value >= ${click} AND value < ${click + 300}`,
    own: 'value',
  },
  {
    name: 'a range of times',
    filter: (click) => `updated >= TIMESTAMP('2021-01-01T00:00:${String(10 + click)}Z')`,
    own: 'updated',
  },
  {
    name: 'two values and a range',
    filter: (click) => `kind IN ('shop', 'park') AND population >= ${click * 1000} AND active = TRUE`,
    own: 'kind',
  },
]

/**
 * A click on a facet of a million rows: the requests that the explorer sends at once (the count, the facets, the
 * first rows, the count of the map's view), until the last response has arrived, and the stalls of the event loop
 * meanwhile. These are absolute figures, because the aim is one: what a user waits for.
 */
export const bench: Bench = async (print) => {
  const folder = await mkdtemp(join(tmpdir(), 'wayleave-bench-'))
  const server = await startWayleave()
  try {
    const source = join(folder, 'points.geojson')
    await generateGeojson(source, { features: ROWS })
    await server.operate('publish', source, '--table', 'points')
    const key = await server.createKey()
    // The idle wait of the same probe: what the machine itself adds.
    const idleMs = await probeIdle(server)
    print(
      `${whole(ROWS)} points; /health waits for ${decimal(idleMs, 1)} ms at most while nothing else runs.\n`,
    )
    print('| a click on | median ms | slowest ms | aim | longest stall ms | aim |')
    print('| --- | --- | --- | --- | --- | --- |')
    for (const { name, filter, own } of KINDS_OF_CLICKS) {
      const { median, slowest, stall } = await measure(server, key, filter, own)
      print(`| ${name} | ${decimal(median, 0)} | ${decimal(slowest, 0)} | 150 | ${decimal(stall, 0)} | 20 |`)
    }
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function measure(
  server: WayleaveServer,
  key: string,
  filter: (click: number) => string,
  own: string,
): Promise<{ median: number; slowest: number; stall: number }> {
  // The first click loads the columns into memory.
  await click(server, key, filter(CLICKS + 1), own)
  const times: number[] = []
  let isRunning = true
  const waiting = longestWait(server, () => isRunning)
  for (let i = 0; i < CLICKS; i++) {
    const began = performance.now()
    await click(server, key, filter(i), own)
    times.push(performance.now() - began)
  }
  isRunning = false
  times.sort((a, b) => a - b)
  return { median: times[CLICKS >> 1]!, slowest: times.at(-1)!, stall: await waiting }
}

async function click({ origin }: WayleaveServer, key: string, filter: string, own: string): Promise<void> {
  const get = async (path: string, query: Record<string, string>) => {
    const url = `${origin}/v1/ogc/collections/points${path}?${new URLSearchParams(query)}`
    const response = await fetch(url, { headers: { 'x-api-key': key } })
    if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
    await response.arrayBuffer()
  }
  const free = ['kind', 'population', 'value', 'active', 'updated'].filter((name) => name !== own)
  await Promise.all([
    get('/items', { resulttype: 'hits', filter }),
    get('/items', { resulttype: 'hits', filter: `${VIEW} AND (${filter})` }),
    get('/facets', { columns: free.slice(0, 4).join(','), limit: '20', bins: '30', filter }),
    get('/facets', { columns: own, limit: '20', bins: '30' }),
    get('/items', { limit: '200', filter }),
  ])
}

async function probeIdle(server: WayleaveServer): Promise<number> {
  const end = performance.now() + 1000
  return longestWait(server, () => performance.now() < end)
}
