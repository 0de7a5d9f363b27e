import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { PublishingSchema } from '@wayleave/contract/records'
import { SchemaMismatchError } from '@wayleave/geodata/compile'
import { operator } from '../../../base/events/events.ts'
import { openAccount } from '../../../testing/account.ts'
import { runCommand } from '../../../testing/processes/run-command.ts'
import { publishText } from '../../../testing/publish.ts'
import {
  databaseKinds,
  openTestServer,
  type TestServer,
  temporaryFolder,
} from '../../../testing/test-server.ts'
import { hasShapeOfSchema } from './check-schema.ts'
import { parseSchema } from './parse-schema.ts'
import { schemaBodyLimit } from './schema-routes.ts'

const STATIONS = 'code;height;opened;secret\n1;1.500;01-02-2020;x\n2;2.500;03-04-2020;y\n'

/** What can only be known by the publisher: 1.500 is fifteen hundred, and 01-02 the first of February. */
const SCHEMA: PublishingSchema = {
  columns: [
    { name: 'code', type: 'text', title: 'Code of the station' },
    { name: 'metres', source: 'height', type: 'integer', format: 'decimal-comma', unit: 'm' },
    { name: 'opened', type: 'date', format: 'dd-mm-yyyy' },
    { name: 'secret', hidden: true },
  ],
  idColumn: 'code',
}

async function writerOf(service: TestServer): Promise<string> {
  const newKey = { name: 'Publisher', permissions: ['read', 'write'] }
  return (await service.parts.keys.createPlatform(operator, newKey)).secret
}

test('a schema that is made from a version keeps how its numbers and dates were written', async (t) => {
  const service = await openTestServer(t)
  const key = await writerOf(service)
  await publishText(service, 'levels', 'a.csv', 'metres;day\n1.500,25;31-12-2024\n2,5;02-01-2025\n')
  const { body } = await service.request('GET', '/v1/dataset/levels/schema', { key })
  assert.deepEqual(body.columns, [
    { name: 'metres', type: 'number', format: 'decimal-comma' },
    { name: 'day', type: 'date', format: 'dd-mm-yyyy' },
  ])
  const { isFixed: _, ...schema } = body
  await service.request('PUT', '/v1/dataset/levels/schema', { key, body: schema })
  // Without the formats these would be 2.5 and a text.
  const next = await publishText(service, 'levels', 'a.csv', 'metres;day\n2.500;03-02-2025\n')
  assert.deepEqual([next.columns[0]!.type, next.timeExtent], ['number', ['2025-02-03', '2025-02-03']])
  const { body: rows } = await service.request('GET', '/v1/dataset/levels/files/json', { key })
  assert.deepEqual(rows, [{ metres: 2500, day: '2025-02-03' }])
})

for (const database of databaseKinds) {
  test(`a schema is kept between versions, which are read by it and checked against it (${database})`, async (t) => {
    const service = await openTestServer(t, { database })
    const key = await writerOf(service)
    await publishText(service, 'stations', 'a.csv', STATIONS)
    const before = await service.request('GET', '/v1/dataset/stations/schema', { key })
    assert.equal(before.status, 200, before.text)
    assert.equal(before.body.isFixed, false)
    assert.deepEqual(before.body.columns[0], { name: 'code', type: 'integer' })

    // Before it is parsed: these are not JSON at all, which parsing alone would notice.
    for (const text of ['['.repeat(100_000), `{${','.repeat(200_000)}`]) {
      const headers = { 'x-api-key': key, 'content-type': 'application/json' }
      const url = `${service.url}/v1/dataset/stations/schema`
      const shapeless = await fetch(url, { method: 'PUT', headers, body: text })
      assert.equal(shapeless.status, 400)
      assert.match(await shapeless.text(), /has more values, than a schema/)
    }
    const put = await service.request('PUT', '/v1/dataset/stations/schema', { key, body: SCHEMA })
    assert.equal(put.status, 204, put.text)
    const { body: stored } = await service.request('GET', '/v1/dataset/stations/schema', { key })
    assert.deepEqual(stored, { isFixed: true, ...SCHEMA })

    const second = await publishText(service, 'stations', 'a.csv', STATIONS)
    assert.deepEqual(
      second.columns.map(({ name, type }) => [name, type]),
      [
        ['code', 'text'],
        ['metres', 'integer'],
        ['opened', 'date'],
      ],
    )
    assert.deepEqual(second.timeExtent, ['2020-02-01', '2020-04-03'])
    const { body: metadata } = await service.request('GET', '/v1/dataset/stations', { key })
    assert.equal(metadata.columns[1].unit, 'm')
    assert.equal(metadata.columns[0].title, 'Code of the station')

    // A missing column and a changed type stop the publishing, with all differences.
    const wrong = 'code;opened;secret\n1;soon;x\n2;03-04-2020;y\n'
    const refused = publishText(service, 'stations', 'b.csv', wrong)
    await assert.rejects(refused, (error: SchemaMismatchError) => {
      assert.ok(error instanceof SchemaMismatchError)
      assert.equal(error.misfits.length, 2)
      assert.match(error.message, /"height" is missing.*row 1 has "soon".*--ignore-schema/s)
      return true
    })
    assert.equal((await service.parts.catalog.find('stations')).version, 2)
    const forced = await publishText(service, 'stations', 'b.csv', wrong, { ignoreSchema: true })
    assert.deepEqual(
      forced.columns.map(({ name, type }) => [name, type]),
      [
        ['code', 'text'],
        ['opened', 'text'],
      ],
    )
    assert.equal(forced.notes.filter((note) => /missing|soon/.test(note)).length, 2)
  })
}

test('an unusual drop in rows stops the publishing, within the limit of the publisher', async (t) => {
  const service = await openTestServer(t)
  const rows = (count: number) => `n\n${Array.from({ length: count }, (_, i) => i).join('\n')}\n`
  const schema: PublishingSchema = { columns: [{ name: 'n', type: 'integer' }], maxRowDrop: 0.1 }
  await publishText(service, 'counts', 'a.csv', rows(100), { schema })
  assert.equal((await publishText(service, 'counts', 'a.csv', rows(90))).version, 2)
  const file = join(temporaryFolder(t), 'fewer.csv')
  writeFileSync(file, rows(80))
  const inspect = async (mode?: 'append' | 'update') =>
    (await service.parts.publishing.inspect({ table: 'counts', path: file, ...(mode && { mode }) })).misfits
  assert.deepEqual(await inspect(), [
    'It has 80 rows, and version 2 has 90: 11 % fewer, and the schema allows 10 %.',
  ])
  assert.deepEqual(await inspect('append'), [])
  writeFileSync(file, 'm\n1\n')
  assert.match(String(await inspect('append')), /"n"|column n/)
  assert.deepEqual(await inspect('update'), [])
  const refused = publishText(service, 'counts', 'a.csv', rows(80))
  await assert.rejects(refused, /has 80 rows, and version 2 has 90: 11 % fewer, and the schema allows 10 %/)
  const confirmed = await publishText(service, 'counts', 'a.csv', rows(80), { ignoreSchema: true })
  assert.equal(confirmed.version, 3)
  await service.parts.versions.fixSchema({ table: 'counts', origin: operator, schema: null })
  assert.equal((await publishText(service, 'counts', 'a.csv', rows(1))).version, 4)
})

test('an upload that differs from the schema fails with the differences, and can be confirmed', async (t) => {
  const service = await openTestServer(t)
  const key = await writerOf(service)
  const schema = JSON.stringify({ columns: [{ name: 'a', type: 'integer' }] })
  const upload = async (body: string, query = '') => {
    const path = `/v1/dataset/t?filename=a.csv${query}`
    const headers = { 'content-type': 'text/csv' }
    const { body: job, status, text } = await service.request('PUT', path, { key, body, headers })
    assert.equal(status, 202, text)
    for (;;) {
      const current = await service.parts.jobs.find(job.id)
      if (current.state === 'done' || current.state === 'failed') return current
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  assert.equal((await upload('a\n1\n', `&schema=${encodeURIComponent(schema)}`)).state, 'done')
  const failed = await upload('a\nx\n')
  assert.equal(failed.state, 'failed')
  assert.deepEqual(failed.problem?.misfits, ['Column a cannot be published as integer: row 1 has "x".'])
  assert.equal((await upload('a\nx\n', '&ignoreSchema=true')).state, 'done')
})

test('schemas are for publishers, and wrong ones are refused', async (t) => {
  const service = await openTestServer(t)
  const key = await writerOf(service)
  await publishText(service, 'stations', 'a.csv', STATIONS)
  const eve = await openAccount(service, 'eve@example.org', { addOns: ['API_ACCESS'], credits: 10 })
  const path = '/v1/dataset/stations/schema'
  assert.equal((await service.request('GET', path, {})).status, 401)
  assert.equal((await service.request('GET', path, { key: eve.key })).status, 403)
  assert.equal((await service.request('GET', '/v1/dataset/nowhere/schema', { key })).status, 404)
  const wrong = [
    { columns: [{ name: 'a' }, { name: 'A' }] },
    { columns: [{ name: 'a', type: 'date', format: 'decimal-comma' }] },
    { columns: [{ name: 'a', type: 'day' }] },
    { columns: [], longitude: 'x' },
    { columns: [], maxRowDrop: 2 },
    { columns: [], other: 1 },
  ]
  for (const body of wrong) {
    assert.equal((await service.request('PUT', path, { key, body })).status, 400, JSON.stringify(body))
    assert.throws(() => parseSchema(JSON.stringify(body)))
  }
  const refusals: [text: string, message: string][] = [
    ['{"columns":[{"name":"a","kind":1}]}', 'schema/columns/0/kind: is not a known field.'],
    ['{"columns":[{}]}', 'schema/columns/0/name: is required.'],
    ['[]', 'schema: must be object.'],
  ]
  for (const [text, detail] of refusals) assert.throws(() => parseSchema(text), { detail })
})

test('the body of a schema has room for as many columns as a dataset may have, with all of their members', () => {
  const column = (i: number) => ({
    ...{ name: `name ${i}`, source: `source ${i}`, type: 'number', format: 'decimal-comma' },
    ...{ title: `Title, ${i}`, description: 'x, y, z, '.repeat(50), unit: 'km', hidden: false },
  })
  const schema = (columns: number) => ({
    ...{ columns: Array.from({ length: columns }, (_, i) => column(i)), idColumn: 'name 0' },
    ...{ timeColumn: 'a', longitude: 'b', latitude: 'c', geometryColumn: 'd', crs: 'e', maxRowDrop: 1 },
  })
  for (const columns of [1, 100, 1000]) {
    const text = JSON.stringify({ isFixed: true, ...schema(columns) })
    assert.ok(text.length < schemaBodyLimit(columns), `${columns} columns`)
    assert.ok(hasShapeOfSchema(text, columns))
  }
  assert.ok(!hasShapeOfSchema(JSON.stringify(schema(1400)), 1000))
  assert.deepEqual([1, 1000, 10_000].map(schemaBodyLimit), [262_144, 1_024_000, 4_194_304])
})

test('the command shows, fixes, sets and removes a schema', async (t) => {
  const place = { dataDir: temporaryFolder(t), databaseUrl: null }
  const folder = temporaryFolder(t)
  const file = join(folder, 'a.csv')
  writeFileSync(file, STATIONS)
  await runCommand(place, 'publish', file, '--table', 'stations')
  const fixed = await runCommand(place, 'schema', 'stations', '--fix', '--json')
  assert.equal((fixed.json as { isFixed: boolean }).isFixed, true)
  writeFileSync(file, 'other\n1\n2\n')
  const refused = await runCommand(place, 'publish', file, '--table', 'stations')
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /"code" is missing/)
  assert.equal((await runCommand(place, 'publish', file, '--table', 'stations', '--ignore-schema')).code, 0)
  const set = join(folder, 'schema.json')
  writeFileSync(set, JSON.stringify({ columns: [{ name: 'other', type: 'text' }] }))
  const { json } = await runCommand(place, 'schema', 'stations', '--set', set, '--json')
  assert.deepEqual(json, { isFixed: true, columns: [{ name: 'other', type: 'text' }] })
  assert.match((await runCommand(place, 'schema', 'stations', '--remove')).stdout, /Nothing is fixed/)
  assert.equal((await runCommand(place, 'schema', 'stations', '--remove', '--fix')).code, 2)
})
