import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { openSnapshot, type Snapshot } from '@wayleave/geodata/features'
import type { Geometry } from '@wayleave/geodata/geometry'
import { compileText, feature, scratch } from '@wayleave/geodata/testing'
import fc from 'fast-check'
import pg from 'pg'
import { lacks } from '../../../scripts/test-run/needs.ts'
import {
  type AggregateQuery,
  type Dimension,
  type Measure,
  planConditions,
  QueryEngine,
  type ResultValue,
  TimedWork,
} from '../engine.ts'
import { conditionsOf } from '../testing/conditions.ts'

const skip = lacks('postgres')
const work = new TimedWork({ owner: 'test', maxMs: 600_000 })
const ROWS = 2000
const DATABASE = `aggregates_${randomUUID().replaceAll('-', '')}`

interface Properties {
  kind: string | null
  number: number | null
  big: bigint | null
  day: string | null
  time: string | null
}

function propertiesOf(i: number): Properties {
  const mixed = Math.imul(i + 1, 2654435761) >>> 0
  const bit = (shift: number, count: number) => (mixed >>> shift) % count
  return {
    kind: ['a', 'B', 'é', '', null][bit(3, 5)]!,
    number: bit(5, 11) === 0 ? null : (bit(7, 401) - 200) / 8,
    big: [2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + BigInt(i % 9), null, 1n][bit(6, 5)]!,
    day:
      bit(10, 9) === 0
        ? null
        : new Date(Date.UTC(1900 + bit(1, 250), bit(4, 12), 1 + bit(6, 28))).toISOString().slice(0, 10),
    time:
      bit(11, 9) === 0
        ? null
        : new Date(Date.UTC(2019, bit(4, 30), 1, bit(9, 100), bit(3, 60))).toISOString().replace('.000', ''),
  }
}

function placeOf(i: number): Geometry | null {
  return i % 40 === 0
    ? null
    : { type: 'Point', coordinates: [((i * 7919) % 360) - 180, ((i * 104_729) % 170) - 85] }
}

/** Squares that touch each other on whole degrees, where many points lie. */
function zoneOf(i: number): Geometry {
  const [x, y] = [-120 + (i % 5) * 45, -60 + Math.floor(i / 5) * 40]
  const ring = [[x, y], [x + 45, y], [x + 45, y + 40], [x, y + 40], [x, y]] // biome-ignore format: one line
  return { type: 'Polygon', coordinates: [ring] }
}

let snapshot: Snapshot
let zones: Snapshot
let engine: QueryEngine
let client: pg.Client

/** `JSON.rawJSON` is newer than the type definitions. */
type RawJson = { rawJSON(text: string): unknown }

function geojson(features: readonly unknown[]): string {
  return JSON.stringify({ type: 'FeatureCollection', features }, (_name, value: unknown) =>
    typeof value === 'bigint' ? (JSON as unknown as RawJson).rawJSON(String(value)) : value,
  )
}

before(async () => {
  if (skip) return
  const rows = Array.from({ length: ROWS }, (_, i) => ({ i, ...propertiesOf(i) }))
  const made = await compileText(geojson(rows.map((row) => feature(row as never, placeOf(row.i)))))
  snapshot = await openSnapshot(made.folder)
  const areas = Array.from({ length: 15 }, (_, i) => feature({ name: `zone ${i}` }, zoneOf(i)))
  zones = await openSnapshot((await compileText(geojson(areas))).folder)
  engine = new QueryEngine(scratch, { geometryBytes: 1 << 24, columnBytes: 1 << 28 })
  client = await openDatabase()
  await client.query("SET TIME ZONE 'UTC'")
  await client.query('CREATE EXTENSION postgis')
  await client.query(
    'CREATE TABLE rows (i bigint, kind text COLLATE "C", number float8, big bigint, day date, time timestamptz, geom geometry)',
  )
  await client.query('BEGIN')
  for (const row of rows) {
    const place = placeOf(row.i)
    const values = [row.i, row.kind, row.number, row.big, row.day, row.time, place && JSON.stringify(place)]
    await client.query('INSERT INTO rows VALUES ($1, $2, $3, $4, $5, $6, ST_GeomFromGeoJSON($7))', values)
  }
  await client.query('COMMIT')
  await client.query('CREATE TABLE zones (name text, geom geometry)')
  for (let i = 0; i < 15; i++)
    await client.query('INSERT INTO zones VALUES ($1, ST_GeomFromGeoJSON($2))', [
      `zone ${i}`,
      JSON.stringify(zoneOf(i)),
    ])
})
after(async () => {
  if (skip) return
  await client.end()
  await onServer(`DROP DATABASE ${DATABASE}`)
  await engine.close()
  await snapshot.close()
  await zones.close()
})

async function onServer(sql: string): Promise<void> {
  const server = new pg.Client(process.env['WAYLEAVE_TEST_POSTGRES_URL'])
  await server.connect()
  await server.query(sql)
  await server.end()
}

/** A database of its own, because PostGIS is installed in it. */
async function openDatabase(): Promise<pg.Client> {
  await onServer(`CREATE DATABASE ${DATABASE}`)
  const url = new URL(process.env['WAYLEAVE_TEST_POSTGRES_URL']!)
  url.pathname = `/${DATABASE}`
  const opened = new pg.Client(url.href)
  await opened.connect()
  return opened
}

type Part<T> = [part: T, sql: string]

const PERIODS = ['quarter', 'month', 'week', 'day'] as const
const dimension: fc.Arbitrary<Part<Dimension>> = fc.constantFrom<Part<Dimension>>(
  [{ kind: 'column', column: 'kind' }, 'kind'],
  [{ kind: 'column', column: 'big' }, 'big::text'],
  [{ kind: 'interval', column: 'number', width: 2.5 }, 'floor(number / 2.5) * 2.5'],
  [{ kind: 'interval', column: 'big', width: 1000 }, '(floor(big::numeric / 1000) * 1000)::text'],
  [{ kind: 'period', column: 'day', period: 'year' }, 'extract(year FROM day)::int'],
  [{ kind: 'period', column: 'time', period: 'weekday' }, 'extract(isodow FROM time)::int'],
  [
    { kind: 'period', column: 'time', period: 'hour' },
    `to_char(date_trunc('hour', time), 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`,
  ],
  ...PERIODS.flatMap((period) =>
    (['day', 'time'] as const).map(
      (column): Part<Dimension> => [
        { kind: 'period', column, period },
        `to_char(date_trunc('${period}', ${column}), 'YYYY-MM-DD')`,
      ],
    ),
  ),
)

const measure: fc.Arbitrary<Part<Measure>> = fc.constantFrom<Part<Measure>>(
  [{ kind: 'count' }, 'count(*)::int'],
  [{ kind: 'sum', column: 'big' }, 'sum(big)::text'],
  [{ kind: 'sum', column: 'number' }, 'sum(number)'],
  [{ kind: 'mean', column: 'big' }, 'avg(big)::float8'],
  [{ kind: 'mean', column: 'number' }, 'avg(number)'],
  [{ kind: 'stddev', column: 'number' }, 'stddev_samp(number)'],
  [{ kind: 'min', column: 'kind' }, 'min(kind)'],
  [{ kind: 'max', column: 'big' }, 'max(big)::text'],
  [{ kind: 'distinct', column: 'day' }, 'count(DISTINCT day)::int'],
  [
    { kind: 'percentile', column: 'number', percent: 50 },
    'percentile_cont(0.5) WITHIN GROUP (ORDER BY number)',
  ],
  [
    { kind: 'percentile', column: 'number', percent: 95 },
    'percentile_cont(0.95) WITHIN GROUP (ORDER BY number)',
  ],
)

const FILTERS: [cql: string, sql: string][] = [
  ['', 'true'],
  ["kind IN ('a', 'é') AND number > -5", "kind IN ('a', 'é') AND number > -5"],
  [
    'S_INTERSECTS(geometry, BBOX(-60, -40, 90, 50))',
    'ST_Intersects(geom, ST_MakeEnvelope(-60, -40, 90, 50, 4326))',
  ],
  ['number > i * 0.01', 'number > i * 0.01'],
]

function named<T extends object>(parts: readonly Part<T>[]): (T & { name: string })[] {
  return parts.map(([part], i) => ({ ...part, name: `${i}` }))
}

function ask(groupby: AggregateQuery['groupby'], measures: AggregateQuery['measures'], filter: string) {
  const paging = {
    having: null,
    sort: [],
    offset: 0,
    limit: 100_000,
    others: false,
    geometry: null,
    box: null,
  }
  const plan = filter === '' ? null : planConditions(conditionsOf(filter), snapshot)
  return engine.aggregate(snapshot, { groupby, measures, ...paging }, plan, work)
}

function keyOf(values: readonly unknown[]): string {
  return values.map((value) => (value === null ? 'null' : `=${value}`)).join('\n')
}

function isSame(own: ResultValue, other: unknown): boolean {
  if (own === null || other === null) return own === other
  if (typeof own === 'bigint' || typeof other === 'string') return String(own) === other
  return Math.abs(Number(own) - Number(other)) <= 1e-9 * Math.max(1, Math.abs(Number(other)))
}

test('groups and measures are those of PostgreSQL', { skip }, async () => {
  const question = fc.record({
    groupby: fc.uniqueArray(dimension, { maxLength: 3, selector: ([, sql]) => sql }),
    measures: fc.uniqueArray(measure, { minLength: 1, maxLength: 4, selector: ([, sql]) => sql }),
    filter: fc.constantFrom(...FILTERS),
  })
  await fc.assert(
    fc.asyncProperty(question, async ({ groupby, measures, filter: [cql, where] }) => {
      const { rows } = await ask(named(groupby), named(measures), cql)
      const list = [...groupby, ...measures].map(([, sql], i) => `${sql} AS c${i}`).join(', ')
      const groups = groupby.map((_, i) => i + 1).join(', ')
      const sql = `SELECT ${list} FROM rows WHERE ${where}${groups && ` GROUP BY ${groups}`}`
      const answer = await client.query({ text: sql, rowMode: 'array' })
      const expected = new Map(
        (answer.rows as unknown[][]).map((row) => [keyOf(row.slice(0, groupby.length)), row]),
      )
      assert.equal(rows.length, expected.size, sql)
      for (const row of rows) {
        const other = expected.get(keyOf(row.slice(0, groupby.length)))
        assert.ok(other, `${sql}: no group ${row}`)
        for (let i = groupby.length; i < row.length; i++)
          assert.ok(isSame(row[i]!, other[i]), `${sql}: ${row[i]} is not ${other[i]}`)
      }
    }),
    { numRuns: 100, seed: 41 },
  )
})

test('points in areas are those of PostGIS, edges included', { skip }, async () => {
  const within: Dimension = { kind: 'within', zones: (read) => read(zones), label: 'name' }
  const { rows } = await ask([{ ...within, name: 'zone' }], [{ kind: 'count', name: 'count' }], '')
  // A point on the edge of several areas is in one of them here, and in each of them there.
  const sql = `SELECT count(*)::int AS all, count(*) FILTER (WHERE n = 0)::int AS none FROM (SELECT (SELECT count(*) FROM zones z WHERE ST_Intersects(z.geom, r.geom)) AS n FROM rows r) c`
  const [counts] = (await client.query(sql)).rows as { all: number; none: number }[]
  assert.equal(rows.find(([id]) => id === null)?.[2], counts!.none)
  assert.equal(
    rows.reduce((sum, row) => sum + Number(row[2]), 0),
    counts!.all,
  )
  for (const [, name, count] of rows) {
    if (name === null) continue
    const inside = await client.query(
      'SELECT count(*) FILTER (WHERE ST_Within(r.geom, z.geom))::int AS within, count(*)::int AS meets FROM rows r JOIN zones z ON ST_Intersects(z.geom, r.geom) WHERE z.name = $1',
      [name],
    )
    const { within, meets } = inside.rows[0] as { within: number; meets: number }
    assert.ok(Number(count) >= within && Number(count) <= meets, `${name}: ${within} <= ${count} <= ${meets}`)
  }
})
