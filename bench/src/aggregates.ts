import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { countriesGeojson } from '@wayleave/demo/world.ts'
import { openDuckDb } from '@wayleave/geodata/duckdb'
import { type Bench, decimal, whole } from './bench.ts'
import { generateGeojson } from './measure/generate.ts'
import { longestStall } from './measure/longest-stall.ts'
import { median } from './measure/median.ts'
import { openOpponent } from './measure/postgis.ts'
import { figuresOf } from './measure/process-figures.ts'
import { startWayleave, type WayleaveServer } from './measure/wayleave-server.ts'

const ROWS = 1_000_000
const RUNS = 15
/** PostgreSQL takes seconds for some, so it is asked less often. */
const SLOW_RUNS = 3
const IDLE_MS = 3000

interface Question {
  name: string
  query: Record<string, string>
  /** The same for both databases. */
  sql?: string
  /** What only PostGIS can say. */
  postgis?: string
}

const MERCATOR_Y = 'floor((1 - ln(tan(radians(latitude)) + 1 / cos(radians(latitude))) / pi()) / 2 * 256)'

const QUESTIONS: Question[] = [
  {
    name: 'a column: sum and mean',
    query: { groupby: 'kind', measures: 'sum(population),mean(value)' },
    sql: 'SELECT kind, sum(population), avg(value) FROM points GROUP BY 1 ORDER BY 1',
  },
  {
    name: 'month and a column',
    query: { groupby: 'month(updated),kind', measures: 'count,sum(population)' },
    sql: "SELECT date_trunc('month', updated), kind, count(*), sum(population) FROM points GROUP BY 1, 2 ORDER BY 1, 2",
  },
  {
    name: 'map cells in a box',
    query: { groupby: 'tile(8)', measures: 'count,mean(value)', bbox: '-60,-30,60,50', limit: '10000' },
    sql: `SELECT floor((longitude + 180) / 360 * 256), ${MERCATOR_Y}, count(*), avg(value) FROM points WHERE longitude BETWEEN -60 AND 60 AND latitude BETWEEN -30 AND 50 GROUP BY 1, 2 ORDER BY 2, 1 LIMIT 10000`,
    postgis: `SELECT floor((longitude + 180) / 360 * 256), ${MERCATOR_Y}, count(*), avg(value) FROM (SELECT ST_X(geom) AS longitude, ST_Y(geom) AS latitude, value FROM points WHERE geom && ST_MakeEnvelope(-60, -30, 60, 50, 4326)) p GROUP BY 1, 2 ORDER BY 2, 1 LIMIT 10000`,
  },
  {
    name: 'points in 241 countries',
    query: { groupby: 'within(countries)', measures: 'count,sum(population)' },
    postgis:
      'SELECT c.name, count(*), sum(population) FROM points p JOIN countries c ON ST_Intersects(c.geom, p.geom) GROUP BY 1 ORDER BY 1',
  },
]

interface Figures {
  /** The first time, when nothing is in memory, and the median of the others, in ms. */
  first: number
  median: number
  /** Processor time of one, in ms. */
  processor: number
}

/** Groups and measures of a million points. The aims are times that users notice, so it prints milliseconds too. */
export const bench: Bench = async (print) => {
  const folder = await mkdtemp(join(tmpdir(), 'wayleave-bench-'))
  const server = await startWayleave()
  try {
    const key = await publish(server, folder)
    const csv = join(folder, 'points.csv')
    await download(server, key, csv)
    const opponent = await openOpponent(csv)
    const duckdb = await openParquet(csv, folder)
    try {
      await loadCountries(opponent.ask)
      // The stalls of an idle server: what the machine itself adds.
      const idle = await longestStall(server, () => delay(IDLE_MS))
      print(
        `${whole(ROWS)} points; DuckDB has ${availableParallelism()} threads. Times are medians of ${RUNS} (PostgreSQL: ${SLOW_RUNS}) in ms, in brackets the processor time. The longest stall of the idle server in ${IDLE_MS / 1000} s: ${decimal(idle, 0)} ms.\n`,
      )
      print('| groups by | first | ours | PostgreSQL | ratio | DuckDB | ratio | longest stall |')
      print('| --- | --: | --: | --: | --: | --: | --: | --: |')
      for (const { name, query, sql, postgis } of QUESTIONS) {
        let ours: Figures | null = null
        const stall = await longestStall(server, async () => {
          ours = await measure(
            RUNS,
            () => figuresOf(server.pid).processorSeconds * 1000,
            () => ask(server, key, query),
          )
        })
        const database = await measure(
          SLOW_RUNS,
          () => figuresOf(opponent.pid).processorSeconds * 1000,
          () => opponent.ask(postgis ?? sql!),
        )
        const other = sql
          ? await measure(RUNS, ownProcessorMs, async () => {
              await (await duckdb.connection.runAndReadAll(sql)).getRows()
            })
          : null
        print(row(name, ours!, database, other, stall))
      }
      print(
        '\nAims: PostgreSQL takes 10 times as long or more, DuckDB not less; a median of 50 ms; no stall above 20 ms. DuckDB reads a Parquet file that has longitude and latitude as columns. It has no spatial functions here.',
      )
    } finally {
      duckdb.close()
      await opponent.stop()
    }
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

function row(name: string, ours: Figures, database: Figures, other: Figures | null, stall: number): string {
  const shown = ({ median, processor }: Figures) => `${decimal(median, 1)} (${decimal(processor, 0)})`
  const ratio = (figures: Figures) =>
    `${decimal(figures.median / ours.median, 1)} (${decimal(figures.processor / ours.processor, 1)})`
  const last = other ? [shown(other), ratio(other)] : ['–', '–']
  return `| ${[name, decimal(ours.first, 0), shown(ours), shown(database), ratio(database), ...last, decimal(stall, 0)].join(' | ')} |`
}

async function publish(server: WayleaveServer, folder: string): Promise<string> {
  const points = join(folder, 'points.geojson')
  await generateGeojson(points, { features: ROWS })
  await server.operate('publish', points, '--table', 'points')
  await rm(points)
  const countries = join(folder, 'countries.geojson')
  await writeFile(countries, JSON.stringify(countriesGeojson()))
  await server.operate('publish', countries, '--table', 'countries')
  return server.createKey()
}

async function download({ origin }: WayleaveServer, key: string, path: string): Promise<void> {
  const response = await fetch(`${origin}/v1/dataset/points/files/csv`, { headers: { 'x-api-key': key } })
  if (!response.ok) throw new Error(`csv: ${response.status}`)
  await writeFile(path, response.body!)
}

async function openParquet(csv: string, folder: string) {
  const duckdb = await openDuckDb({
    threads: availableParallelism(),
    memoryLimit: '2GB',
    folders: [folder],
  })
  const parquet = join(folder, 'points.parquet')
  await duckdb.connection.run(`COPY (SELECT * FROM read_csv('${csv}')) TO '${parquet}' (FORMAT parquet)`)
  await duckdb.connection.run(`CREATE VIEW points AS SELECT * FROM read_parquet('${parquet}')`)
  return duckdb
}

async function loadCountries(ask: (text: string, values?: unknown[]) => Promise<unknown>): Promise<void> {
  await ask('CREATE TABLE countries (name text, geom geometry)')
  for (const { properties, geometry } of countriesGeojson().features)
    await ask('INSERT INTO countries VALUES ($1, ST_SetSRID(ST_GeomFromGeoJSON($2), 4326))', [
      properties.name,
      JSON.stringify(geometry),
    ])
  await ask('CREATE INDEX ON countries USING gist (geom)')
  await ask('VACUUM ANALYZE countries')
}

async function ask({ origin }: WayleaveServer, key: string, query: Record<string, string>): Promise<void> {
  const url = `${origin}/v1/ogc/collections/points/aggregate?${new URLSearchParams(query)}`
  const response = await fetch(url, { headers: { 'x-api-key': key } })
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
  await response.arrayBuffer()
}

function ownProcessorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

async function measure(
  runs: number,
  processorMs: () => number,
  run: () => Promise<unknown>,
): Promise<Figures> {
  const timed = async () => {
    const began = performance.now()
    await run()
    return performance.now() - began
  }
  const first = await timed()
  const times: number[] = []
  const before = processorMs()
  for (let i = 0; i < runs; i++) times.push(await timed())
  return { first, median: median(times), processor: (processorMs() - before) / runs }
}
