import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { lacks } from '../../../scripts/test-run/needs.ts'
import { openAccount } from '../testing/account.ts'
import { newBucketSettings } from '../testing/bucket.ts'
import { cleanUp } from '../testing/cleanup.ts'
import { points, publishText } from '../testing/publish.ts'
import { S3Proxy } from '../testing/s3-proxy.ts'
import {
  type DatabaseKind,
  databaseKinds,
  openTestServer,
  temporaryDatabase,
  temporaryFolder,
} from '../testing/test-server.ts'

const ITEMS = '/v1/ogc/collections/places/items'

test('a node that has used the bucket starts while the bucket is unreachable, and serves its cache', {
  skip: lacks('s3'),
}, async (t) => {
  const proxy = await S3Proxy.open(t)
  const settings = newBucketSettings(proxy.url)
  const databaseUrl = await temporaryDatabase(t)
  const dataDir = temporaryFolder(t)
  const first = await openTestServer(t, { dataDir, databaseUrl, settings })
  await publishText(first, 'places', 'places.geojson', points(30))
  const { key } = await openAccount(first, 'ada@example.org', { addOns: ['API_ACCESS', 'GIS_ACCESS'] })
  assert.equal((await first.request('GET', ITEMS, { key })).status, 200)
  await first.stop()
  proxy.isDown = true
  const second = await openTestServer(t, { dataDir, databaseUrl, settings })
  assert.equal((await second.request('GET', ITEMS, { key })).status, 200)
  assert.equal((await second.request('GET', '/ready')).status, 200)
  assert.ok(second.logLines.some((line) => line.includes('cannot be reached')))
  const refusal = /bucket .* cannot be reached, and this node has not used it with this database/
  await assert.rejects(openTestServer(t, { databaseUrl, settings }), refusal)
  const elsewhere = { ...settings, storageUrl: newBucketSettings().storageUrl }
  await assert.rejects(openTestServer(t, { dataDir, databaseUrl, settings: elsewhere }), refusal)
})

const skip = !canMount() && 'needs the right to mount a small disk'

/** Tried out, because root has not got the right in every container. */
function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-mount-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=700', 'tmpfs', folder], { stdio: 'ignore' })
    execFileSync('umount', [folder], { stdio: 'ignore' })
    return true
  } catch {
    return false
  } finally {
    rmdirSync(folder)
  }
}

function smallDisk(t: TestContext): string {
  const folder = join(temporaryFolder(t), 'disk')
  mkdirSync(folder)
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=48m,mode=700', 'tmpfs', folder], { stdio: 'ignore' })
  cleanUp(t, () => execFileSync('umount', ['--lazy', folder], { stdio: 'ignore' }))
  return folder
}

/** Writes until nothing is left. */
function fill(folder: string): void {
  const { bavail, bsize } = statfsSync(folder)
  writeFileSync(join(folder, 'ballast'), Buffer.alloc(bavail * bsize))
}

async function databaseOf(t: TestContext, kind: DatabaseKind): Promise<{ databaseUrl?: string }> {
  return kind === 'postgres' ? { databaseUrl: await temporaryDatabase(t) } : {}
}

for (const kind of databaseKinds) {
  test(`a server starts on a full disk and serves, and writes again when there is space, on ${kind}`, {
    skip,
  }, async (t) => {
    const disk = smallDisk(t)
    const place = { dataDir: join(disk, 'data'), ...(await databaseOf(t, kind)) }
    mkdirSync(place.dataDir, { mode: 0o700 })
    const first = await openTestServer(t, place)
    await publishText(first, 'places', 'places.geojson', points(30))
    const { key } = await openAccount(first, 'ada@example.org', {
      addOns: ['API_ACCESS', 'GIS_ACCESS'],
      credits: 10,
    })
    await first.parts.housekeeping.whenIdle()
    await first.stop()
    fill(disk)
    const second = await openTestServer(t, place)
    const get = (path: string) => second.request('GET', path, { key })
    assert.equal((await get(ITEMS)).status, 200)
    assert.equal((await get(`${ITEMS}?filter=number%3C7`)).status, 200)
    assert.equal((await get('/v1/dataset/places')).status, 200)
    rmSync(join(disk, 'ballast'))
    await publishText(second, 'others', 'others.geojson', points(30))
    assert.equal((await get('/v1/dataset/others/files/csv')).status, 200)
  })
}
