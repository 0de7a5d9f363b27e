import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { DAY, plus } from '../../base/clock.ts'
import { operator } from '../../base/events/events.ts'
import { openAccount } from '../../testing/account.ts'
import { getBytes } from '../../testing/get-bytes.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { points, publishText } from '../../testing/publish.ts'
import { databaseKinds, openTestServer, temporaryFolder } from '../../testing/test-server.ts'

const DESCRIPTION = {
  title: 'Wells',
  description:
    '# Wells\n\n*Deep* ones, see [the report](https://example.org/report) and <b onclick="x()">this</b>.',
  license: 'CC-BY-4.0',
  attribution: 'City of Utrecht',
  contact: 'wells@example.org',
  citation: 'City of Utrecht (2026): Wells.',
  updateFrequency: 'monthly',
  keywords: ['water'],
  credits: 3,
}

for (const database of databaseKinds) {
  test(`a description has contact, citation, update cycle, column notes and version notes (${database})`, async (t) => {
    const service = await openTestServer(t, { database })
    const { secret: key } = await service.parts.keys.createPlatform(operator, {
      name: 'test',
      permissions: ['write', 'read'],
    })
    await publishText(service, 'wells', 'wells.geojson', points(20), { note: 'The first survey.' })
    const patch = (body: object) => service.request('PATCH', '/v1/dataset/wells', { key, body })
    const columns = {
      number: { title: 'Number', description: 'Counted from north to south.', unit: '' },
      half: { unit: 'm' },
      name: { title: '' },
    }
    assert.equal((await patch({ ...DESCRIPTION, columns })).status, 204)
    const read = async () => (await service.request('GET', '/v1/dataset/wells')).body
    const record = await read()
    for (const [name, value] of Object.entries(DESCRIPTION)) assert.deepEqual(record[name], value, name)
    const column = (name: string) => record.columns.find((one: { name: string }) => one.name === name)
    assert.deepEqual(column('half'), { name: 'half', type: 'number', nullable: false, unit: 'm' })
    assert.deepEqual(
      [column('number').title, column('number').description, column('number').unit, column('name').title],
      ['Number', 'Counted from north to south.', undefined, undefined],
    )

    // A new version keeps the description and has a note of its own.
    await publishText(service, 'wells', 'wells.geojson', points(25))
    const { data } = (await service.request('GET', '/v1/dataset/wells/archives')).body
    assert.deepEqual(
      data.map(({ note }: { note: string }) => note),
      ['', 'The first survey.'],
    )
    assert.equal((await read()).contact, DESCRIPTION.contact)

    assert.equal((await patch({ columns: { depth: { unit: 'm' } } })).status, 400)
    assert.equal((await patch({ updateFrequency: 'sometimes' })).status, 400)
    assert.equal((await patch({ columns: { half: { color: 'red' } } })).status, 400)
    assert.equal((await patch({ contact: 'a\0b' })).status, 400)
    assert.equal((await patch({ columns: {}, contact: '' })).status, 204)
    const cleared = await read()
    assert.deepEqual([cleared.contact, 'unit' in cleared.columns[2]], ['', false])
  })
}

test('what is said about a dataset appears in schemas, the page’s head and the catalogues', async (t) => {
  const service = await openTestServer(t)
  await publishText(service, 'wells', 'wells.geojson', points(20))
  const { updateFrequency, ...texts } = DESCRIPTION
  const columnNotes = { half: { title: 'Half', description: 'A half.', unit: 'm' } }
  const description = { ...texts, updateFrequency: updateFrequency as 'monthly', columnNotes }
  await service.parts.publishing.describe('wells', description, operator)
  const { secret: key } = await service.parts.keys.createPlatform(operator, {
    name: 'test',
    permissions: ['read'],
  })
  const schema = (await service.request('GET', '/v1/ogc/collections/wells/schema', { key })).body
  const { title, description: about, 'x-ogc-unit': unit } = schema.properties.half
  assert.deepEqual([title, about, unit], ['Half', 'A half.', 'm'])

  const { text: graph } = await service.request('GET', '/catalog.jsonld')
  for (const part of ['mailto:wells@example.org', 'frequency/MONTHLY', DESCRIPTION.citation]) {
    assert.ok(graph.includes(part), part)
  }
  assert.ok(graph.includes('Wells Deep ones, see the report and'), 'plain text')
  assert.ok(!graph.includes('*Deep*'))
})

test('the sizes of files are stated once they are built, and paid ones are listed for a day', async (t) => {
  let now = new Date('2026-03-01T12:00:00Z')
  const service = await openTestServer(t, { clock: () => now })
  await publishText(service, 'places', 'places.geojson', points(50), { description: { credits: 3 } })
  const account = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 100 })
  const sizes = async () => {
    const { formats } = (await service.request('GET', '/v1/dataset/places')).body
    return Object.fromEntries(
      formats.map(({ format, bytes }: { format: string; bytes: number | null }) => [format, bytes]),
    )
  }
  const purchases = async () =>
    (await service.request('GET', '/v1/dataset/places/purchases', { key: account.key })).body.data
  assert.equal((await sizes())['csv'], null)
  assert.deepEqual(await purchases(), [])
  for (const format of ['csv', 'geojson', 'geoparquet', 'gpkg']) {
    const { bytes } = await getBytes(service, `/v1/dataset/places/files/${format}`, account.key)
    assert.equal((await sizes())[format], bytes.length, format)
  }
  // A browser gets the compressed file; the size is that of the file itself.
  const path = '/v1/dataset/places/files/kml'
  await service.request('GET', path, { key: account.key, headers: { 'accept-encoding': 'gzip' } })
  const stated = (await sizes())['kml']
  assert.equal(stated, (await getBytes(service, path, account.key)).bytes.length)
  const paidAt = now.toISOString()
  assert.deepEqual(
    (await purchases()).sort((a: { format: string }, b: { format: string }) =>
      a.format < b.format ? -1 : 1,
    ),
    ['csv', 'geojson', 'geoparquet', 'gpkg', 'kml'].map((format) => {
      return { version: 1, format, paidAt, freeUntil: plus(now, DAY).toISOString() }
    }),
  )
  now = plus(now, DAY + 1000)
  assert.deepEqual(await purchases(), [])
  const other = await openAccount(service, 'bob@example.org', { addOns: ['API_ACCESS'] })
  const { body } = await service.request('GET', '/v1/dataset/places/purchases', { key: other.key })
  assert.deepEqual(body, { data: [] })
  assert.equal((await service.request('GET', '/v1/dataset/places/purchases')).status, 401)
})

test('the command line describes a dataset, its columns and its versions', async (t) => {
  const dataDir = temporaryFolder(t)
  const run = (...args: string[]) => runCommand({ dataDir, databaseUrl: null }, ...args, '--json')
  const source = join(dataDir, 'depths.csv')
  const notes = join(dataDir, 'columns.json')
  writeFileSync(source, 'place,depth\na,1\nb,2\n')
  writeFileSync(notes, '{"depth":{"title":"Depth","unit":"m"}}')
  const published = await run('publish', source, '--table', 'depths', '--note', 'first', '--contact', 'Ada')
  assert.equal(published.code, 0, published.stderr)
  const described = await run('describe', 'depths', '--columns', notes, '--update-frequency', 'annual')
  assert.deepEqual(
    [described.code, described.json],
    [0, { table: 'depths', changed: ['updateFrequency', 'columns'] }],
  )
  const [dataset] = (await run('datasets')).json.data
  assert.deepEqual(
    [dataset.contact, dataset.updateFrequency, dataset.columns[1].unit],
    ['Ada', 'annual', 'm'],
  )

  writeFileSync(notes, '{"deep":{"unit":"m"}}')
  assert.equal((await run('describe', 'depths', '--columns', notes)).code, 2)
  writeFileSync(notes, '{"depth":{"colour":"red"}}')
  assert.equal((await run('describe', 'depths', '--columns', notes)).code, 2)
  assert.equal((await run('describe', 'depths', '--update-frequency', 'sometimes')).code, 2)
  assert.equal((await run('describe', 'depths')).code, 2)
  assert.equal((await run('describe', 'nothing', '--title', 'x')).code, 1)
})
