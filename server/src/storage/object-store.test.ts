import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { newBucketSettings, openTestBucket, withoutS3 } from '../testing/bucket.ts'
import { S3Proxy } from '../testing/s3-proxy.ts'
import { temporaryFolder } from '../testing/test-server.ts'
import { FolderStore } from './folder-store.ts'
import { ObjectMissingError, type ObjectStore, StorageUnavailableError } from './object-store.ts'
import { awsCredentials } from './s3/aws-credentials.ts'
import { s3Location } from './s3/s3-address.ts'
import { S3Store } from './s3/s3-store.ts'

const stores: Record<string, (t: TestContext) => Promise<ObjectStore>> = {
  folder: async (t) => new FolderStore(temporaryFolder(t)),
  s3: (t) => openTestBucket(t, newBucketSettings()),
}

async function keysOf(store: ObjectStore, prefix: string): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of store.list(prefix)) keys.push(key)
  return keys
}

for (const [name, open] of Object.entries(stores)) {
  const skip = name === 's3' && withoutS3

  test(`objects are read as they were written, whole and in parts: ${name}`, { skip }, async (t) => {
    const store = await open(t)
    const content = randomBytes(300_000)
    await store.write('snapshots/a_1/features.pack', content)
    assert.ok((await store.read('snapshots/a_1/features.pack')).equals(content))
    for (const [from, to] of [
      [0, 10],
      [0, 300_000],
      [299_999, 300_000],
      [100_000, 250_000],
      [5, 5],
    ] as const) {
      const part = await store.read('snapshots/a_1/features.pack', { from, to })
      assert.ok(part.equals(content.subarray(from, to)), `${from}-${to}`)
    }
    const head = await store.head('snapshots/a_1/features.pack')
    assert.equal(head?.bytes, 300_000)
    assert.ok(Math.abs(head.modifiedAt.getTime() - Date.now()) < 60_000)
    await store.write('snapshots/a_1/features.pack', Buffer.from('again'))
    assert.equal((await store.read('snapshots/a_1/features.pack')).toString(), 'again')
    await store.write('empty', Buffer.alloc(0))
    assert.equal((await store.head('empty'))?.bytes, 0)
  })

  test(`a missing or too short object is told apart from an outage: ${name}`, { skip }, async (t) => {
    const store = await open(t)
    await assert.rejects(store.read('nothing'), ObjectMissingError)
    await assert.rejects(store.read('nothing', { from: 0, to: 1 }), ObjectMissingError)
    assert.equal(await store.head('nothing'), null)
    await store.write('short', Buffer.alloc(10))
    await assert.rejects(store.read('short', { from: 5, to: 20 }), ObjectMissingError)
    await assert.rejects(store.read('short', { from: 10, to: 20 }), ObjectMissingError)
  })

  test(`objects are listed by prefix and folder, and deleted: ${name}`, { skip }, async (t) => {
    const store = await open(t)
    const keys = ['a/b/1', 'a/b/2', 'a/c/1', 'a/top', 'ab/1']
    for (const key of keys) await store.write(key, Buffer.from(key))
    assert.deepEqual(await keysOf(store, 'a/'), ['a/b/1', 'a/b/2', 'a/c/1', 'a/top'])
    assert.deepEqual(await keysOf(store, 'a/b/'), ['a/b/1', 'a/b/2'])
    assert.deepEqual(await keysOf(store, 'none/'), [])
    assert.deepEqual(await store.listFolders('a/'), ['b', 'c'])
    assert.deepEqual(await store.listFolders('none/'), [])
    await store.delete(['a/b/1', 'a/b/2', 'never/was'])
    assert.deepEqual(await keysOf(store, 'a/'), ['a/c/1', 'a/top'])
    assert.deepEqual(await store.listFolders('a/'), ['c'])
  })

  test(`a large file is stored in parts and read back: ${name}`, { skip }, async (t) => {
    const store = await open(t)
    const content = randomBytes(20_000_001)
    const path = join(temporaryFolder(t), 'large')
    writeFileSync(path, content)
    await store.write('large', { path, bytes: content.length })
    assert.ok((await store.read('large', { from: 0, to: content.length })).equals(content))
  })
}

test('a listing of several pages is complete', { skip: withoutS3 }, async (t) => {
  const settings = newBucketSettings()
  const store = new S3Store({
    location: s3Location({ ...settings, storageUrl: settings.storageUrl! }),
    credentials: awsCredentials(),
    pageKeys: 4,
  })
  t.after(() => store.close())
  const keys = Array.from({ length: 22 }, (_, i) => `many/${String(i).padStart(4, '0')}/x`)
  await Promise.all(keys.map((key) => store.write(key, Buffer.from('x'))))
  assert.deepEqual(await keysOf(store, 'many/'), keys)
  assert.equal((await store.listFolders('many/')).length, 22)
  await store.delete(keys)
  assert.deepEqual(await keysOf(store, 'many/'), [])
})

test('a broken connection and SlowDown are repeated, and only the rest is fetched', {
  skip: withoutS3,
}, async (t) => {
  const proxy = await S3Proxy.open(t)
  const store = await openTestBucket(t, newBucketSettings(proxy.url))
  const content = randomBytes(400_000)
  await store.write('object', content)
  proxy.requests.length = 0
  proxy.cuts = 1
  assert.ok((await store.read('object', { from: 0, to: 400_000 })).equals(content))
  const ranges = proxy.requests.map((request) => request.split(' ')[2])
  assert.deepEqual(ranges, ['bytes=0-399999', 'bytes=200000-399999'])
  proxy.slowDowns = 2
  assert.ok((await store.read('object', { from: 1, to: 400_000 })).equals(content.subarray(1)))
  proxy.slowDowns = 1
  await store.write('other', content)
  assert.ok((await store.read('other')).equals(content))
})

test('while the store is away calls fail at once, and work again when it is back', {
  skip: withoutS3,
}, async (t) => {
  const proxy = await S3Proxy.open(t)
  const store = await openTestBucket(t, newBucketSettings(proxy.url))
  await store.write('object', Buffer.from('content'))
  proxy.isDown = true
  await assert.rejects(store.read('object'), StorageUnavailableError)
  assert.ok(store.breaker.isOpen)
  const { requests } = store.counts
  for (let i = 0; i < 20; i++) await assert.rejects(store.read('object'), StorageUnavailableError)
  assert.ok(store.counts.requests - requests <= 2, 'calls are not sent while the store is away')
  proxy.isDown = false
  while (store.breaker.isOpen) {
    await sleep(50)
    await store.read('object').catch(() => {})
  }
  assert.equal((await store.read('object')).toString(), 'content')
})

test('wrong credentials are refused by the store, and the message says so', {
  skip: withoutS3,
}, async (t) => {
  const settings = newBucketSettings()
  const store = new S3Store({
    location: s3Location({ ...settings, storageUrl: settings.storageUrl! }),
    credentials: async () => ({ accessKeyId: 'nobody', secretAccessKey: 'wrong' }),
  })
  t.after(() => store.close())
  await assert.rejects(store.write('object', Buffer.from('x')), /responded 403/)
})
