import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Bench, decimal, whole } from './bench.ts'
import { generateGeojson, KINDS } from './measure/generate.ts'
import { longestStall } from './measure/longest-stall.ts'
import { waitForTiles } from './measure/wait-for-tiles.ts'
import { startWayleave, type WayleaveServer } from './measure/wayleave-server.ts'

const ROWS = 1_000_000
/** Clicks of each kind; each has another filter, so that no response comes from a cache. */
const CLICKS = 25
/** The part of the world that the map shows, and the tiles that it consists of. */
const VIEW = 'S_INTERSECTS(geometry, BBOX(-60, -30, 60, 50))'
const TILES = ['1/0/0', '1/0/1', '1/1/0', '1/1/1']
const COLUMNS = ['kind', 'population', 'value', 'active', 'updated', 'opened']

interface KindOfClick {
  name: string
  /** The number makes every filter another one. */
  filter: (click: number) => string
  /** The column that is filtered; the filter does not apply to its own facet. */
  own: string
}

const KINDS_OF_CLICKS: KindOfClick[] = [
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
  {
    name: 'the view of the map and a value',
    filter: (click) =>
      `S_INTERSECTS(geometry, BBOX(${-50 - click}, -20, 50, 45)) AND kind = '${KINDS[click % KINDS.length]}'`,
    own: 'kind',
  },
]

/**
 * A click on a facet of a million rows: the requests that the explorer sends at once (the count, the facets, the
 * first rows, the count and the tiles of the map's view), until the last response has arrived, and the stalls of
 * the event loop meanwhile. These are absolute figures, because the aim is one: what a user waits for.
 */
export const bench: Bench = async (print) => {
  const folder = await mkdtemp(join(tmpdir(), 'wayleave-bench-'))
  const server = await startWayleave({
    WAYLEAVE_TILES: 'true',
    WAYLEAVE_TILE_RATE: '100000000',
    WAYLEAVE_TILE_MAX_ZOOM: '5',
  })
  try {
    const source = join(folder, 'points.geojson')
    await generateGeojson(source, { features: ROWS })
    await server.operate('publish', source, '--table', 'points')
    await waitForTiles(server, 'points')
    const key = await server.createKey()
    // The stalls of an idle server, for as long as clicks of one kind may take: what the machine itself adds.
    const idle = await longestStall(server, () => delay(CLICKS * 150))
    print(
      `${whole(ROWS)} points. The longest stall of the idle server in ${decimal((CLICKS * 150) / 1000, 1)} s: ${decimal(idle, 0)} ms.\n`,
    )
    print('| a click on | median ms | slowest ms | with tiles, median ms | slowest ms | longest stall ms |')
    print('| --- | --: | --: | --: | --: | --: |')
    for (const kind of KINDS_OF_CLICKS) print(`| ${kind.name} | ${await measure(server, key, kind)} |`)
    print('\nAims: a click below 150 ms, no stall above 20 ms.')
    await withoutColumns(print, server, key)
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Facets of a request that names no columns, beside a text of a million different values. */
async function withoutColumns(
  print: (line: string) => void,
  { origin }: WayleaveServer,
  key: string,
): Promise<void> {
  const times = async (query: string) => {
    const taken: number[] = []
    for (let i = 0; i < CLICKS; i++) {
      const began = performance.now()
      const response = await fetch(`${origin}/v1/ogc/collections/points/facets${query}`, {
        headers: { 'x-api-key': key },
      })
      if (!response.ok) throw new Error(`facets${query}: ${response.status}`)
      await response.arrayBuffer()
      taken.push(performance.now() - began)
    }
    return { first: taken[0]!, median: taken.toSorted((a, b) => a - b)[CLICKS >> 1]! }
  }
  const preset = await times('')
  const named = await times('?columns=name')
  print(
    `\nFacets of all columns but the texts that are all different: ${decimal(preset.median, 1)} ms (aim: below 20 ms). Such a text by its name: ${decimal(named.first, 0)} ms at first, then ${decimal(named.median, 1)} ms (aim: below 20 ms).`,
  )
}

async function measure(server: WayleaveServer, key: string, { filter, own }: KindOfClick): Promise<string> {
  // The first clicks load the columns into memory and let V8 compile the code.
  for (let i = 1; i <= 3; i++) await click(server, key, filter(CLICKS + i), own)
  const table: number[] = []
  const all: number[] = []
  const stall = await longestStall(server, async () => {
    for (let i = 0; i < CLICKS; i++) {
      const times = await click(server, key, filter(i), own)
      table.push(times.table)
      all.push(times.all)
    }
  })
  const [one, other] = [table, all].map((times) => times.toSorted((a, b) => a - b))
  const figures = [one!.at(CLICKS >> 1), one!.at(-1), other!.at(CLICKS >> 1), other!.at(-1), stall]
  return figures.map((figure) => decimal(figure!, 0)).join(' | ')
}

/** How long the table, its facets and counts took, in ms, and how long all took together with the map's tiles. */
async function click(
  { origin }: WayleaveServer,
  key: string,
  filter: string,
  own: string,
): Promise<{ table: number; all: number }> {
  const get = async (path: string, query: Record<string, string>) => {
    const url = `${origin}/v1/ogc/collections/points${path}?${new URLSearchParams(query)}`
    const response = await fetch(url, { headers: { 'x-api-key': key } })
    if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
    await response.arrayBuffer()
  }
  const free = COLUMNS.filter((name) => name !== own)
  const began = performance.now()
  const tiles = TILES.map((tile) => get(`/tiles/WebMercatorQuad/${tile}`, { filter }))
  await Promise.all([
    get('/items', { resulttype: 'hits', filter }),
    get('/items', { resulttype: 'hits', filter: `${VIEW} AND (${filter})` }),
    get('/facets', { columns: free.join(','), limit: '20', bins: '30', filter }),
    get('/facets', { columns: own, limit: '20', bins: '30' }),
    get('/items', { limit: '200', filter }),
  ])
  const table = performance.now() - began
  await Promise.all(tiles)
  return { table, all: performance.now() - began }
}
