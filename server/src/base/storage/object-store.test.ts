import assert from 'node:assert/strict'
import { createHmac, hash, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { newBucketSettings, openTestBucket } from '../../testing/bucket.ts'
import { S3Proxy } from '../../testing/s3-proxy.ts'
import { temporaryFolder } from '../../testing/test-server.ts'
import { FolderStore } from './folder-store.ts'
import { ObjectMissingError, type ObjectStore, StorageUnavailableError } from './object-store.ts'
import { openBucket } from './open-store.ts'
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
  const skip = name === 's3' && lacks('s3')

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

test('a listing of several pages is complete', { skip: lacks('s3') }, async (t) => {
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
  skip: lacks('s3'),
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

test('while the store is unreachable calls fail at once, and work again when it is back', {
  skip: lacks('s3'),
}, async (t) => {
  const proxy = await S3Proxy.open(t)
  const store = await openTestBucket(t, newBucketSettings(proxy.url))
  await store.write('object', Buffer.from('content'))
  proxy.isDown = true
  await assert.rejects(store.read('object'), StorageUnavailableError)
  assert.ok(store.breaker.isOpen)
  const { requests } = store.counts
  for (let i = 0; i < 20; i++) await assert.rejects(store.read('object'), StorageUnavailableError)
  assert.ok(store.counts.requests - requests <= 2, 'calls are not sent while the store is unreachable')
  proxy.isDown = false
  while (store.breaker.isOpen) {
    await sleep(50)
    await store.read('object').catch(() => {})
  }
  assert.equal((await store.read('object')).toString(), 'content')
})

test('wrong credentials are refused by the store, and the message says so', {
  skip: lacks('s3'),
}, async (t) => {
  const settings = newBucketSettings()
  const store = new S3Store({
    location: s3Location({ ...settings, storageUrl: settings.storageUrl! }),
    credentials: async () => ({ accessKeyId: 'nobody', secretAccessKey: 'wrong' }),
  })
  t.after(() => store.close())
  await assert.rejects(store.write('object', Buffer.from('x')), /responded 403/)
})

test('a bucket that does not exist is named, with the setting', { skip: lacks('s3') }, async (t) => {
  const settings = { ...newBucketSettings(), storageUrl: 's3://nowhere-at-all/data' }
  const store = await openTestBucket(t, settings)
  const expected = {
    name: 'StorageUnavailableError',
    message: `The bucket "nowhere-at-all" does not exist at ${settings.s3Endpoint}. Create it, or correct WAYLEAVE_STORAGE_URL (s3://nowhere-at-all/data/).`,
  }
  await assert.rejects(Array.fromAsync(store.list('trash/')), expected)
  await assert.rejects(store.read('object'), expected)
  await assert.rejects(store.write('object', Buffer.from('x')), expected)
  await assert.rejects(store.delete(['object']), expected)
  const backup = await openBucket(settings, 'the address of the backup')
  t.after(() => backup.close())
  await assert.rejects(backup.read('object'), /or correct the address of the backup \(s3:/)
})

/** Sets the AWS variables to exactly these for the rest of the test. */
function setAwsVariables(t: TestContext, variables: Record<string, string>): void {
  const before = Object.entries(process.env).filter(([name]) => name.startsWith('AWS_'))
  const clear = () => {
    for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name]
  }
  clear()
  const none = join(temporaryFolder(t), 'none')
  Object.assign(process.env, { AWS_SHARED_CREDENTIALS_FILE: none, AWS_CONFIG_FILE: none, ...variables })
  t.after(() => {
    clear()
    Object.assign(process.env, Object.fromEntries(before))
  })
}

/** The endpoint that containers and machines get the credentials of their role from. */
async function roleEndpoint(t: TestContext, keys: { id: string; secret: string }) {
  const paths: string[] = []
  const server = createServer((request, response) => {
    paths.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`.trim())
    const texts: Record<string, string> = {
      '/latest/api/token': 'token',
      '/latest/meta-data/iam/security-credentials/': 'our-role',
    }
    const text = texts[request.url!]
    const document = {
      AccessKeyId: keys.id,
      SecretAccessKey: keys.secret,
      Token: 'session',
      // So soon that they have to be renewed for the next request.
      Expiration: new Date(Date.now() + 1000).toISOString(),
    }
    response.setHeader('content-type', 'application/json').end(text ?? JSON.stringify(document))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paths }
}

test('credentials are those of a profile, or of the role of a container or a machine, which are renewed', {
  skip: lacks('s3'),
}, async (t) => {
  const keys = { id: process.env['AWS_ACCESS_KEY_ID']!, secret: process.env['AWS_SECRET_ACCESS_KEY']! }
  const settings = newBucketSettings()
  const writes = async (name: string) => {
    const store = await openTestBucket(t, settings)
    await store.write(name, Buffer.from(name))
    assert.equal((await store.read(name)).toString(), name)
  }
  await t.test('a profile', async (t) => {
    const file = join(temporaryFolder(t), 'credentials')
    const wrong = '[default]\naws_access_key_id = nobody\naws_secret_access_key = wrong\n'
    writeFileSync(
      file,
      `${wrong}[ours]\naws_access_key_id = ${keys.id}\naws_secret_access_key = ${keys.secret}\n`,
    )
    setAwsVariables(t, { AWS_SHARED_CREDENTIALS_FILE: file, AWS_PROFILE: 'ours' })
    await writes('by-profile')
  })
  await t.test('a container', async (t) => {
    const { url, paths } = await roleEndpoint(t, keys)
    setAwsVariables(t, {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/role`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN: 'let-me',
    })
    await writes('by-container')
    assert.ok(paths.length >= 2 && paths.every((path) => path === 'GET /role let-me'), paths.join())
  })
  await t.test('a machine', async (t) => {
    const { url, paths } = await roleEndpoint(t, keys)
    setAwsVariables(t, { AWS_EC2_METADATA_SERVICE_ENDPOINT: url })
    await writes('by-machine')
    const role = 'GET /latest/meta-data/iam/security-credentials/our-role'
    assert.ok(paths.includes(role), paths.join())
    assert.ok(paths.includes('PUT /latest/api/token'), paths.join())
  })
})

test('a signed address has the signature that the protocol demands, and covers no range', async (t) => {
  const store = new S3Store({
    location: s3Location({
      storageUrl: 's3://bucket/some/prefix',
      s3Endpoint: null,
      s3Region: 'eu-central-1',
      s3PathStyle: null,
    }),
    credentials: async () => ({
      accessKeyId: 'AKIDEXAMPLE',
      secretAccessKey: 'secret',
      sessionToken: 'a/b+c',
    }),
  })
  t.after(() => store.close())
  const address = { lifetime: 300, mediaType: 'text/csv; charset=utf-8', filename: 'a.csv', encoding: 'gzip' }
  const url = new URL(await store.signedAddress('exports/ä b.csv', address))
  assert.equal(url.host, 'bucket.s3.eu-central-1.amazonaws.com')
  assert.equal(url.pathname, '/some/prefix/exports/%C3%A4%20b.csv')
  // Only the host is signed, so that a client may add `Range` and resume a download.
  assert.equal(url.searchParams.get('X-Amz-SignedHeaders'), 'host')
  assert.equal(url.searchParams.get('X-Amz-Expires'), '300')
  assert.equal(url.searchParams.get('X-Amz-Security-Token'), 'a/b+c')
  assert.equal(url.searchParams.get('response-content-encoding'), 'gzip')
  const signature = url.searchParams.get('X-Amz-Signature')
  // Signature Version 4, computed anew: https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
  const encode = (text: string) =>
    encodeURIComponent(text).replaceAll(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
  const query = [...url.searchParams]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&')
  const canonical = ['GET', url.pathname, query, `host:${url.host}\n`, 'host', 'UNSIGNED-PAYLOAD'].join('\n')
  const time = url.searchParams.get('X-Amz-Date')!
  const scope = [time.slice(0, 8), 'eu-central-1', 's3', 'aws4_request']
  assert.equal(url.searchParams.get('X-Amz-Credential'), ['AKIDEXAMPLE', ...scope].join('/'))
  const text = ['AWS4-HMAC-SHA256', time, scope.join('/'), hash('sha256', canonical)].join('\n')
  const hmac = (key: string | Buffer, value: string) => createHmac('sha256', key).update(value).digest()
  const key = scope.reduce<string | Buffer>(hmac, 'AWS4secret')
  assert.equal(signature, hmac(key, text).toString('hex'))
})
