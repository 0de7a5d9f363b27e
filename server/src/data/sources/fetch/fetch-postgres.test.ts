import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { needs } from '../../../../../scripts/test-run/needs.ts'
import { openTestServer } from '../../../testing/test-server.ts'
import { featuresOf, publishAddress } from '../sources.test-kit.ts'

needs('postgres')

const inside = { settings: { allowInternalAddresses: true } }

/** A database of its own with PostGIS. */
async function openGis(t: TestContext) {
  const server = process.env['WAYLEAVE_TEST_POSTGRES_URL']!
  const name = `gis_${randomBytes(8).toString('hex')}`
  const onServer = async (sql: string) => {
    const client = new pg.Client({ connectionString: server })
    await client.connect()
    await client.query(sql)
    await client.end()
  }
  await onServer(`CREATE DATABASE ${name}`)
  const url = new URL(server)
  url.pathname = name
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  t.after(async () => {
    await client.end()
    await onServer(`DROP DATABASE ${name} WITH (FORCE)`)
  })
  await client.query('CREATE EXTENSION postgis')
  await client.query('CREATE SCHEMA gis')
  return { url: url.href, client }
}

test('a table of PostGIS is published with exact types, and not again while it is the same', async (t) => {
  const service = await openTestServer(t, inside)
  const { url, client } = await openGis(t)
  await client.query(`CREATE TYPE mood AS ENUM ('calm', 'loud')`)
  await client.query(`CREATE DOMAIN age AS int CHECK (value >= 0)`)
  await client.query(`CREATE TABLE gis.sites (
    code text PRIMARY KEY, flag bool, small int2, medium int4, large int8, half float4, whole float8,
    amount numeric, wide numeric(38, 0), day date, at timestamp, seen timestamptz, tags text[], data jsonb,
    feeling mood, years age, empty text, geom geometry(PointZ, 25832), area geography)`)
  await client.query(`INSERT INTO gis.sites VALUES
    ('a', true, -5, 70000, 9007199254740993, 0.1, 1e-7, 12.50, 12345678901234567890123456789012345678,
     '2024-02-29', '2024-02-29 12:30:00.123456', '2024-02-29 12:30:00+02', ARRAY['x', NULL], '{"n": 12345678901234567890}',
     'loud', 7, '', ST_SetSRID(ST_MakePoint(691000, 5335000, 520), 25832), 'POINT(11 48)'),
    ('b', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`)
  const published = await publishAddress(service, 'sites', url, {
    sourceTable: 'gis.sites',
    idColumn: 'code',
  })
  assert.deepEqual(Object.fromEntries(published!.report.columns.map(({ name, type }) => [name, type])), {
    code: 'text',
    flag: 'boolean',
    small: 'integer',
    medium: 'integer',
    large: 'integer',
    half: 'number',
    whole: 'number',
    amount: 'number',
    wide: 'integer',
    day: 'date',
    at: 'timestamp',
    seen: 'timestamp',
    tags: 'json',
    data: 'json',
    feeling: 'text',
    years: 'integer',
    empty: 'text',
    area: 'text',
  })
  assert.equal(published!.report.crs, 'EPSG:25832')
  const key = (
    await service.parts.keys.createPlatform(
      { actor: 'operator', address: null, requestId: null },
      { name: 'R', permissions: ['read'] },
    )
  ).secret
  const { text } = await service.request('GET', '/v1/dataset/sites/files/geojson', { key })
  assert.match(
    text,
    /"large":9007199254740993,"half":0\.1,"whole":1e-07,"amount":12\.5,"wide":12345678901234567890123456789012345678,/,
  )
  assert.match(text, /"day":"2024-02-29","at":"2024-02-29T12:30:00\.123456Z","seen":"2024-02-29T10:30:00Z"/)
  assert.match(
    text,
    /"tags":\["x",null\],"data":\{"n":12345678901234567890\},"feeling":"loud","years":7,"empty":"","area":"POINT\(11 48\)"/,
  )
  const features = await featuresOf(service, 'sites')
  assert.deepEqual(features.map(({ id }) => id).sort(), ['a', 'b'])
  const [x, y, z] = (features.find(({ id }) => id === 'a')!.geometry as { coordinates: number[] }).coordinates
  assert.ok(Math.abs(x! - 11.57) < 0.02 && Math.abs(y! - 48.13) < 0.02 && z === 520, `${x} ${y} ${z}`)
  const { validators } = published!
  assert.equal(
    await publishAddress(service, 'sites', url, { sourceTable: 'gis.sites', idColumn: 'code', validators }),
    null,
  )
})

test('a query must be one statement that reads, and an error of the database is reported', async (t) => {
  const service = await openTestServer(t, inside)
  const { url, client } = await openGis(t)
  await client.query(
    'CREATE TABLE gis.rows AS SELECT n, ST_SetSRID(ST_MakePoint(n / 100.0, n / 100.0), 4326) AS geom FROM generate_series(1, 5000) n',
  )
  const query = 'SELECT n AS id, geom FROM gis.rows WHERE n % 2 = 0 ORDER BY n;'
  const published = await publishAddress(service, 'even', url, { query, idColumn: 'id' })
  assert.equal(published?.report.rows, 2500)
  const table = await publishAddress(service, 'numbers', url, { query: 'SELECT n FROM gis.rows' })
  assert.deepEqual([table?.report.rows, table?.report.geometryType], [5000, null])
  const refused = (wishes: object) => publishAddress(service, 'even', url, wishes)
  await assert.rejects(refused({ query: 'SELECT 1; DROP TABLE gis.rows' }), /The database refused/)
  await assert.rejects(refused({ query: 'DELETE FROM gis.rows RETURNING 1' }), /The database refused/)
  await assert.rejects(refused({ query: `SELECT 1) TO PROGRAM 'true' --` }), /The database refused/)
  await assert.rejects(refused({ sourceTable: 'gis.none' }), /relation "gis.none" does not exist/)
  await assert.rejects(refused({ query: 'SELECT 1 AS a, 2 AS a' }), /two columns named "a"/)
  await assert.rejects(refused({}), /Give either the table/)
  const wrong = new URL(url)
  wrong.password = 'never-shown'
  wrong.username = 'nobody-here'
  await assert.rejects(publishAddress(service, 'even', wrong.href, { query }), (error: Error) => {
    return !error.message.includes('never-shown')
  })
  const mixed = `SELECT 1 AS n, ST_SetSRID(ST_MakePoint(1, 2), 4326) AS g UNION ALL SELECT 2, ST_SetSRID(ST_MakePoint(1, 2), 25832)`
  await assert.rejects(refused({ query: mixed }), /SRID 25832, and others have 4326|cannot be published/)
})
