import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chownSync, closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { cleanUp } from '../../testing/cleanup.ts'
import { keyOpens } from '../../testing/key-opens.ts'
import { signIn } from '../../testing/sign-in.ts'
import { emptyDatabase, openTestServer, temporaryFolder } from '../../testing/test-server.ts'

needs('postgres')

const isRoot = process.getuid?.() === 0

test('a PostgreSQL without disk space is 503 disk-full on writes, reads go on, and it recovers by itself', {
  skip: isRoot ? false : 'needs root to mount a small disk',
}, async (t) => {
  const databaseUrl = await emptyDatabase(t)
  const { disk, fill } = smallDisk(temporaryFolder(t))
  cleanUp(t, () => execFileSync('umount', ['--lazy', disk]))
  const service = await openTestServer(t, { databaseUrl, settings: { keysPerUser: 100_000 } })
  const { token } = await signIn(service, 'ada@example.org')
  // Only the keys are on the small disk, not the rest of the database and its WAL.
  const tablespace = `small_${Date.now()}`
  const admin = new pg.Client({ connectionString: databaseUrl })
  await admin.connect()
  await admin.query(`create tablespace ${tablespace} location '${join(disk, 'space')}'`)
  cleanUp(t, async () => {
    await admin.query('alter table api_keys set tablespace pg_default')
    await admin.query(`drop tablespace ${tablespace}`)
    await admin.end()
  })
  await admin.query(`alter table api_keys set tablespace ${tablespace}`)
  const create = () =>
    service.request('POST', '/v1/api-keys/personal', {
      token,
      body: { name: 'x'.repeat(100), permissions: ['read'] },
    })
  const key = await create()
  assert.equal(key.status, 201, key.text)
  const free = fill()
  let refused = await create()
  for (let i = 0; i < 500 && refused.status === 201; i++) refused = await create()
  assert.equal(refused.status, 503, refused.text)
  assert.equal(refused.body.code, 'disk-full')
  assert.equal(refused.headers.get('retry-after'), '60')
  assert.equal((await service.request('GET', '/v1/api-keys/my-keys', { token })).status, 200)
  assert.ok(await keyOpens(service, key.body.secret))
  free()
  let recovered = await create()
  for (let i = 0; i < 100 && recovered.status !== 201; i++) {
    await sleep(100)
    recovered = await create()
  }
  assert.equal(recovered.status, 201, recovered.text)
})

function smallDisk(folder: string) {
  const disk = join(folder, 'disk')
  mkdirSync(disk)
  execFileSync('chmod', ['755', folder])
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk])
  const space = join(disk, 'space')
  mkdirSync(space)
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  chownSync(space, idOf('-u'), idOf('-g'))
  /** Fills the disk to the last byte; returns a function that frees it again. */
  const fill = () => {
    const path = join(disk, 'ballast')
    const file = openSync(path, 'w')
    for (const size of [65_536, 4096, 1]) {
      try {
        for (;;) writeSync(file, Buffer.alloc(size))
      } catch (error) {
        assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC')
      }
    }
    closeSync(file)
    return () => rmSync(path)
  }
  return { disk, fill }
}
