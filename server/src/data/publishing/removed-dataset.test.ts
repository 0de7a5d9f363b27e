import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import type { DataWork } from '../../base/data-work.ts'
import { operator } from '../../base/events/events.ts'
import { sameProcessWork } from '../../testing/processes/same-process-work.ts'
import { points, publishText } from '../../testing/publish.ts'
import { databaseKinds, openTestServer, type TestServer } from '../../testing/test-server.ts'
import { until } from '../../testing/until.ts'

for (const database of databaseKinds) {
  test(`what is published while its dataset is removed does not bring it back (${database})`, async (t) => {
    const gate = Promise.withResolvers<void>()
    let isHeld = false
    const compile: DataWork['compile'] = async (...args) => {
      if (isHeld) await gate.promise
      return sameProcessWork.compile(...args)
    }
    const service = await openTestServer(t, { database, work: { compile } })
    const { jobs, runner, sources } = service.parts
    const wishes = { name: 'Publisher', permissions: ['read', 'write'] }
    const { secret: key } = await service.parts.keys.createPlatform(operator, wishes)
    const upload = async () => {
      const headers = { 'content-type': 'application/geo+json' }
      const path = '/v1/dataset/salaries?filename=a.geojson'
      const { status, body, text } = await service.request('PUT', path, { key, headers, body: points(4) })
      assert.equal(status, 202, text)
      return body.id as string
    }
    const stateOf = async (id: string) => (await jobs.find(id)).state
    await publishText(service, 'salaries', 'a.geojson', points(3), { description: { visibility: 'private' } })
    isHeld = true
    const running = await upload()
    await until('the job runs', async () => (await stateOf(running)) === 'running')
    const waiting = await upload()
    const body = { address: 'https://data.example.org/salaries.geojson' }
    assert.equal((await service.request('PUT', '/v1/dataset/salaries/source', { key, body })).status, 200)
    const { id: refresh } = await sources.request('salaries', operator)

    assert.equal((await service.request('DELETE', '/v1/dataset/salaries', { key })).status, 204)
    gate.resolve()
    isHeld = false
    await until('no job runs', () => runner.running.publish === 0)
    for (const id of [running, waiting, refresh]) {
      const { state, problem } = await jobs.find(id)
      assert.deepEqual([state, problem?.detail], ['cancelled', 'The dataset was removed meanwhile.'])
    }
    assert.equal((await service.request('GET', '/v1/dataset/salaries', { key })).status, 404)
    // The name is free for another dataset.
    const next = await upload()
    await until('it is published', async () => (await stateOf(next)) === 'done')
    assert.equal((await service.request('GET', '/v1/dataset/salaries', { key })).body.rows, 4)
  })
}

test('a file that is still sent while its dataset is removed does not bring it back', async (t) => {
  const service = await openTestServer(t)
  const wishes = { name: 'Publisher', permissions: ['read', 'write'] }
  const { secret: key } = await service.parts.keys.createPlatform(operator, wishes)
  await publishText(service, 'salaries', 'a.geojson', points(3), { description: { visibility: 'private' } })
  const headers = { 'x-api-key': key, 'content-type': 'application/geo+json' }
  const file = points(4)
  const answered = Promise.withResolvers<IncomingMessage>()
  const path = `${service.url}/v1/dataset/salaries?filename=a.geojson`
  const sent = httpRequest(path, { method: 'PUT', headers }, answered.resolve).on('error', answered.reject)
  sent.write(file.slice(0, 100))
  await until('the file arrives', () => uploadsOf(service).length > 0)
  assert.equal((await service.request('DELETE', '/v1/dataset/salaries', { key })).status, 204)
  sent.end(file.slice(100))
  const response = await answered.promise
  response.resume()
  assert.equal(response.statusCode, 409)
  assert.deepEqual(uploadsOf(service), [])
  assert.equal((await service.request('GET', '/v1/jobs', { key })).body.data.length, 0)
})

function uploadsOf({ config }: TestServer): string[] {
  try {
    return readdirSync(join(config.dataDir, 'uploads'))
  } catch {
    return []
  }
}
