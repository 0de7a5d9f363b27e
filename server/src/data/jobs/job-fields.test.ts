import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openAccount } from '../../testing/account.ts'
import { points, publishText } from '../../testing/publish.ts'
import { openTestServer } from '../../testing/test-server.ts'

test('the lines about a job have the id of the request that asked for it', async (t) => {
  const service = await openTestServer(t)
  await publishText(service, 'places', 'places.geojson', points(10))
  const { key } = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 5 })
  const download = await service.request('GET', '/v1/dataset/places/files/csv', { key })
  assert.equal(download.status, 200)
  const id = download.headers.get('x-request-id')
  const lines = () =>
    service.logLines.map((line) => JSON.parse(line)).filter(({ job, requestId }) => job && requestId === id)
  while (lines().length === 0) await sleep(10)
  assert.match(lines()[0].msg, /^The job \w+ has ended: done\.$/)
  assert.equal(lines()[0].kind, 'export')
})
