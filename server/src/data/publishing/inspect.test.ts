import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JobRecord } from '@wayleave/contract/records'
import { HOUR } from '../../base/clock.ts'
import { operator } from '../../base/events/events.ts'
import { openAccount } from '../../testing/account.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { points } from '../../testing/publish.ts'
import { testClock } from '../../testing/test-clock.ts'
import {
  databaseKinds,
  openTestServer,
  type RequestOptions,
  type TestServer,
  temporaryFolder,
} from '../../testing/test-server.ts'

async function createPlatformKey(service: TestServer, permissions = ['read', 'write']): Promise<string> {
  const { secret } = await service.parts.keys.createPlatform(operator, { name: 'Publisher', permissions })
  return secret
}

async function ended(service: TestServer, id: string): Promise<JobRecord> {
  for (;;) {
    const job = await service.parts.jobs.find(id)
    if (!['waiting', 'running'].includes(job.state)) return job
    await sleep(20)
  }
}

async function inspect(
  service: TestServer,
  credentials: RequestOptions,
  query = '',
  body: string | undefined = points(30),
) {
  const answer = await service.request('POST', `/v1/inspect?filename=a.geojson${query}`, {
    ...credentials,
    ...(body !== undefined && { body }),
    headers: { 'content-type': 'application/geo+json' },
  })
  assert.equal(answer.status, 202, answer.text)
  return ended(service, answer.body.id)
}

for (const database of databaseKinds) {
  test(`an inspected file is published without sending it again, for an hour (${database})`, async (t) => {
    const { clock, pass } = testClock()
    const service = await openTestServer(t, { database, clock })
    const key = await createPlatformKey(service)
    const job = await inspect(service, { key })
    assert.equal(job.state, 'done', JSON.stringify(job.problem))
    assert.equal(job.report, null)
    assert.equal(job.inspection?.rows, 30)
    assert.deepEqual(
      job.inspection.columns.map(({ name, type }) => [name, type]),
      [
        ['number', 'integer'],
        ['name', 'text'],
        ['half', 'number'],
      ],
    )
    assert.equal((await service.request('GET', '/v1/datasets', { key })).body.data.length, 0)

    // The same file is inspected and published with corrections.
    const again = await service.request('POST', `/v1/inspect?inspection=${job.id}&types=number%3Dtext`, {
      key,
    })
    assert.equal(again.status, 202, again.text)
    const corrected = await ended(service, again.body.id)
    assert.equal(corrected.inspection?.columns[0]?.type, 'text')
    await service.parts.jobs.sweep()
    const published = await service.request(
      'PUT',
      `/v1/dataset/places?inspection=${corrected.id}&title=Places&types=number%3Dtext`,
      { key },
    )
    assert.equal(published.status, 202, published.text)
    const { state, report } = await ended(service, published.body.id)
    assert.deepEqual([state, report?.rows, report?.file], ['done', 30, 'a.geojson'])
    assert.equal(report?.columns[0]?.type, 'text')

    // Later it is gone.
    pass(2 * HOUR)
    const late = await service.request('PUT', `/v1/dataset/places?inspection=${job.id}`, { key })
    assert.deepEqual([late.status, late.body.code], [409, 'conflict'])
    await service.parts.jobs.sweep()
    assert.deepEqual(readdirSync(join(service.parts.config.dataDir, 'uploads')), [])
  })
}

test('an inspection needs the right to publish, and its file is only for those who may see the job', async (t) => {
  const service = await openTestServer(t)
  const key = await createPlatformKey(service)
  const eve = await openAccount(service, 'eve@example.org', { addOns: ['API_ACCESS'], credits: 10 })
  const send = (credentials: RequestOptions, query = '') =>
    service.request('POST', `/v1/inspect?filename=a.csv${query}`, {
      ...credentials,
      body: 'a,b\n1,2\n',
      headers: { 'content-type': 'text/csv' },
    })
  assert.equal((await send({})).status, 401)
  assert.equal((await send({ key: eve.key })).status, 403)
  const limited = await createPlatformKey(service, ['write:other'])
  assert.equal((await send({ key: limited })).status, 403)
  assert.equal((await send({ key: limited }, '&table=other')).status, 202)
  assert.equal((await send({ key }, '&table=No')).status, 400)
  assert.equal((await send({ key }, '&mode=append')).status, 202)
  assert.equal((await send({ key }, '&mode=replace')).status, 400)
  const job = await inspect(service, { key })
  const stolen = await service.request('PUT', `/v1/dataset/other?inspection=${job.id}`, { key: limited })
  assert.equal(stolen.status, 404)
  const both = await service.request('PUT', `/v1/dataset/places?inspection=${job.id}`, {
    key,
    body: 'a\n1\n',
  })
  assert.equal(both.status, 400)
  const broken = await inspect(service, { key }, '&format=csv', 'hello world')
  assert.equal(broken.state, 'failed')
})

test('the command prints what a file contains and publishes nothing', async (t) => {
  const place = { dataDir: temporaryFolder(t), databaseUrl: null }
  const file = join(temporaryFolder(t), 'a.csv')
  writeFileSync(file, 'code;height;longitude;latitude\n1;1,5;9;47\nx;2,5;9.5;47.5\n3;3,5;9;47\n')
  const { code, json, stderr } = await runCommand(place, 'inspect', file, '--json')
  assert.equal(code, 0, stderr)
  const { columns, bbox } = json as { columns: { likely: unknown }[]; bbox: number[] }
  assert.deepEqual(bbox, [9, 47, 9.5, 47.5])
  assert.deepEqual(columns[0]!.likely, {
    ...{ type: 'integer', format: null, disagreeing: 1, examples: [{ row: 2, value: 'x' }] },
  })
  const { stdout } = await runCommand(place, 'inspect', file)
  assert.match(stdout, /code +text +integer but for 1: "x" in row 2/)
  assert.match(stdout, /height +number +decimal-comma/)
  // A file that is for no dataset begins no service.
  assert.deepEqual(readdirSync(place.dataDir), [])
  const missing = await runCommand(place, 'inspect', `${file}x`)
  assert.equal(missing.code, 1)
})
