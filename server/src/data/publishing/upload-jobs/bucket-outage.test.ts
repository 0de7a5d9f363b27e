import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { needs } from '../../../../../scripts/test-run/needs.ts'
import { operator } from '../../../base/events/events.ts'
import { newBucketSettings, openTestBucket } from '../../../testing/bucket.ts'
import { points } from '../../../testing/publish.ts'
import { S3Proxy } from '../../../testing/s3-proxy.ts'
import { openTestServer } from '../../../testing/test-server.ts'

needs('s3')

for (const failure of ['isDown', 'isFrozen'] as const) {
  test(`an upload and a cancellation do not wait for a bucket that ${failure === 'isDown' ? 'is down' : 'is frozen'}`, async (t) => {
    const proxy = await S3Proxy.open(t)
    const settings = { ...newBucketSettings(proxy.url), publishJobs: 0 }
    const service = await openTestServer(t, { settings })
    const permissions = ['read', 'write']
    const { secret: key } = await service.parts.keys.createPlatform(operator, { name: 'P', permissions })
    const put = async () => {
      const body = points(20)
      const response = await fetch(`${service.url}/v1/dataset/places`, {
        method: 'PUT',
        body,
        headers: { 'x-api-key': key, 'content-type': 'application/geo+json' },
      })
      return { status: response.status, body: (await response.json()) as { id: string; code: string } }
    }
    const timed = async <T>(work: Promise<T>, maxMs: number): Promise<T> => {
      const began = performance.now()
      const result = await work
      assert.ok(performance.now() - began < maxMs, `${Math.round(performance.now() - began)} ms`)
      return result
    }
    const accepted = await put()
    assert.equal(accepted.status, 202)
    proxy[failure] = true
    const first = await timed(put(), 10_000)
    assert.deepEqual([first.status, first.body.code], [503, 'storage-unavailable'])
    const later = await timed(put(), 5000)
    assert.equal(later.status, 503)
    const folder = join(service.config.dataDir, 'uploads')
    while (readdirSync(folder).length > 1) await sleep(20)
    const cancelled = await timed(service.request('DELETE', `/v1/jobs/${accepted.body.id}`, { key }), 5000)
    assert.equal(cancelled.body.state, 'cancelled')
    proxy[failure] = false
    proxy.dropConnections()
    while ((await put()).status !== 202) await sleep(200)
    await service.parts.jobs.sweep()
    const bucket = await openTestBucket(t, settings)
    assert.equal((await Array.fromAsync(bucket.list('uploads/'))).length, 1)
  })
}

test('a large upload outlasts short failures of the bucket', async (t) => {
  const proxy = await S3Proxy.open(t)
  const service = await openTestServer(t, { settings: { ...newBucketSettings(proxy.url), publishJobs: 0 } })
  const { secret } = await service.parts.keys.createPlatform(operator, { name: 'P', permissions: ['write'] })
  const sent = fetch(`${service.url}/v1/dataset/places`, {
    method: 'PUT',
    body: Buffer.alloc(40 << 20, 'a,b\n'),
    headers: { 'x-api-key': secret, 'content-type': 'text/csv' },
  })
  while (!proxy.requests.some((line) => line.includes('partNumber='))) await sleep(1)
  proxy.slowDowns = 8
  assert.equal((await sent).status, 202)
  assert.equal(proxy.slowDowns, 0)
})
