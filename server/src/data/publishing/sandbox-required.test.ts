import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operator } from '../../base/events/events.ts'
import { openTestServer } from '../../testing/test-server.ts'

test('a service that requires a sandbox and has none refuses files, and serves on', async (t) => {
  const path = process.env['PATH']
  t.after(() => {
    process.env['PATH'] = path
  })
  process.env['PATH'] = '/nowhere'
  const service = await openTestServer(t, { settings: { sandbox: 'require' }, childProcesses: true })
  assert.ok(service.logLines.some((line) => line.includes('bubblewrap is not installed')))
  const { secret } = await service.parts.keys.createPlatform(operator, { name: 'p', permissions: ['write'] })
  const { status, body } = await service.request('PUT', '/v1/dataset/places', {
    key: secret,
    headers: { 'content-type': 'text/csv' },
    body: 'name\na\n',
  })
  assert.deepEqual([status, body.code], [503, 'sandbox-unavailable'])
  assert.match(body.detail, /WAYLEAVE_SANDBOX is require and bubblewrap is not installed/)
  assert.equal((await service.request('GET', '/v1/datasets')).status, 200)
})
