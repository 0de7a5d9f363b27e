import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import pg from 'pg'
import { findPostgres, startPostgres } from '../../../scripts/test-servers/postgres.ts'
import type { ThrowAwayServer } from '../../../scripts/test-servers/throw-away-server.ts'
import { figuresOf } from './process-figures.ts'

/** PostGIS with the same rows, which is asked by prepared statements. */
export interface Opponent {
  count(): Promise<number>
  /** Asks on 16 connections, with these values in turn. `rest` follows the list of columns. */
  measure(rest: string, values: unknown[][]): Promise<OpponentFigures>
  /** Runs one statement on one connection, and returns its rows. */
  ask(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>
  /** The process id of the database. */
  pid: number
  stop(): Promise<void>
}

export interface OpponentFigures {
  queriesPerSecond: number
  /** Processor time per query of all processes of the database, in microseconds. */
  databaseMicroseconds: number
  /** The same of the client that parses the rows: the least that a server in front of the database adds. */
  clientMicroseconds: number
}

const CONNECTIONS = 16
const SECONDS = 2
const COLUMNS = 'number, name, kind, population, value, active, updated, opened'
const INDEXED = ['number', 'kind', 'population', 'value', 'active', 'updated', 'opened']

/** `csv` is an export of the dataset. Every column that is filtered has an index. */
export async function openOpponent(csv: string): Promise<Opponent> {
  const server = await startPostgres()
  const client = new pg.Client(server.url)
  await client.connect()
  await client.query('CREATE EXTENSION postgis')
  await client.query(
    'CREATE UNLOGGED TABLE loaded (number bigint, name text, kind text, population bigint, value float8, active boolean, updated timestamptz, opened date, longitude float8, latitude float8)',
  )
  const copy = `\\copy loaded FROM '${csv}' WITH (FORMAT csv, HEADER true)`
  execFileSync(join(findPostgres()!, 'psql'), [server.url, '-q', '-c', copy])
  await client.query(
    `CREATE UNLOGGED TABLE points AS SELECT ${COLUMNS}, ST_SetSRID(ST_MakePoint(longitude, latitude), 4326) AS geom FROM loaded`,
  )
  await client.query('DROP TABLE loaded')
  for (const column of INDEXED) await client.query(`CREATE INDEX ON points (${column})`)
  await client.query('CREATE INDEX ON points USING gist (geom)')
  await client.query('VACUUM ANALYZE points')
  return {
    async count() {
      return Number((await client.query('SELECT count(*) FROM points')).rows[0].count)
    },
    measure: (rest, values) => measure(server, rest, values),
    ask: async (text, values = []) => (await client.query(text, values)).rows,
    pid: server.pid,
    async stop() {
      await client.end()
      await server.stop()
    },
  }
}

async function measure(
  { url, pid }: ThrowAwayServer,
  rest: string,
  values: unknown[][],
): Promise<OpponentFigures> {
  const text = `SELECT ${COLUMNS}, ST_AsGeoJSON(geom) FROM points ${rest} LIMIT 10`
  const clients = await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const client = new pg.Client(url)
      await client.connect()
      return client
    }),
  )
  let queries = 0
  const ask = async (client: pg.Client, until: number) => {
    for (let i = Math.floor(Math.random() * values.length); performance.now() < until; i++) {
      await client.query({ name: 'page', text, values: values[i % values.length]! })
      queries++
    }
  }
  await Promise.all(clients.map((client) => ask(client, performance.now() + 500)))
  queries = 0
  const began = performance.now()
  const databaseBefore = figuresOf(pid).processorSeconds
  const clientBefore = process.cpuUsage()
  await Promise.all(clients.map((client) => ask(client, began + SECONDS * 1000)))
  const { user, system } = process.cpuUsage(clientBefore)
  const databaseSeconds = figuresOf(pid).processorSeconds - databaseBefore
  const queriesPerSecond = queries / ((performance.now() - began) / 1000)
  await Promise.all(clients.map((client) => client.end()))
  return {
    queriesPerSecond,
    databaseMicroseconds: (databaseSeconds * 1e6) / queries,
    clientMicroseconds: (user + system) / queries,
  }
}
