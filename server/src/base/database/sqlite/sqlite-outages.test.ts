import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { needs } from '../../../../../scripts/test-run/needs.ts'
import { cleanUp } from '../../../testing/cleanup.ts'
import { keyOpens } from '../../../testing/key-opens.ts'
import { points, publishText } from '../../../testing/publish.ts'
import { signIn } from '../../../testing/sign-in.ts'
import { openTestServer, type TestServer, temporaryFolder } from '../../../testing/test-server.ts'
import { tryLock } from '../../locks/file-lock.ts'
import { DatabaseError } from '../database-error.ts'
import { openDatabase } from '../open.ts'

needs('time')

const MAP = { name: 'Map', permissions: ['read'] }

const user = (id: string) => ({
  id,
  email: `${id}@example.org`,
  created_at: '2026-01-01T00:00:00.000Z',
  last_sign_in_at: null,
})

test('reads, keys and /ready do not wait for a write that waits for a lock', async (t) => {
  const service = await openTestServer(t)
  const { token } = await signIn(service, 'ada@example.org')
  const keys = await Promise.all(
    [1, 2, 3].map(() => service.request('POST', '/v1/api-keys/personal', { token, body: MAP })),
  )
  assert.equal((await service.request('GET', '/ready')).status, 200)
  const other = new DatabaseSync(join(service.config.dataDir, 'wayleave.db'))
  cleanUp(t, () => other.close())
  other.exec('begin immediate')
  let written = false
  const write = service
    .request('POST', '/v1/api-keys/personal', { token, body: { ...MAP, name: 'Waits' } })
    .then((answer) => {
      written = true
      return answer
    })
  await sleep(100)
  // None of these keys is cached yet.
  for (const { body } of keys) assert.ok(await keyOpens(service, body.secret))
  assert.equal((await service.request('GET', '/v1/api-keys/my-keys', { token })).body.data.length, 3)
  assert.equal((await service.request('GET', '/ready')).status, 200)
  assert.equal(written, false, 'the lock was held all the while')
  other.exec('commit')
  assert.equal((await write).status, 201)
  assert.equal((await service.request('GET', '/v1/api-keys/my-keys', { token })).body.data.length, 4)
})

test('a write is seen by the read that follows it', async (t) => {
  const { db, close } = await openDatabase({ dataDir: temporaryFolder(t), databaseUrl: null })
  cleanUp(t, close)
  for (let i = 0; i < 200; i++) {
    await db
      .insertInto('users')
      .values(user(`u${i}`))
      .execute()
    const row = await db.selectFrom('users').select('id').where('id', '=', `u${i}`).executeTakeFirst()
    assert.ok(row, `u${i} was not seen`)
  }
})

/** All threads that this test file starts, so that tests can terminate them as a crash would. */
const threads = new Set<Worker>()
process.on('worker', (worker) => {
  threads.add(worker)
  worker.once('exit', () => threads.delete(worker))
})

async function endThreads(): Promise<void> {
  await Promise.all([...threads].map((thread) => thread.terminate()))
}

const isUnavailable = (error: unknown) =>
  error instanceof DatabaseError && error.failure === 'database-unavailable'

test('reads need no thread of their own until one has waited for a transaction', async (t) => {
  const ends: Error[] = []
  const onThreadEnd = (error: Error) => ends.push(error)
  const { db, close } = await openDatabase({ dataDir: temporaryFolder(t), databaseUrl: null, onThreadEnd })
  cleanUp(t, close)
  const read = () => db.selectFrom('users').select('id').execute()
  await Promise.all([read(), db.insertInto('users').values(user('one')).execute(), read()])
  await endThreads()
  assert.equal(ends.length, 1)
  await untilSucceeds(read)
  await db.transaction().execute(async (tx) => {
    await tx.insertInto('users').values(user('two')).execute()
    // Several reads wait, and share the thread that is started for them. They see what is committed.
    for (const rows of await Promise.all([read(), read()])) assert.deepEqual(rows, [{ id: 'one' }])
  })
  assert.equal((await read()).length, 2)
  await endThreads()
  assert.equal(ends.length, 3)
})

test('a thread that ended while no database used it is not used again', async (t) => {
  const options = { dataDir: temporaryFolder(t), databaseUrl: null }
  await (await openDatabase(options)).close()
  await endThreads()
  const { db, close } = await openDatabase(options)
  cleanUp(t, close)
  assert.deepEqual(await db.selectFrom('users').select('id').execute(), [])
})

test('a thread of SQLite that ends fails what waits, is started again, and no transaction goes on half', async (t) => {
  const ends: Error[] = []
  const dataDir = temporaryFolder(t)
  const onThreadEnd = (error: Error) => ends.push(error)
  const { db, close } = await openDatabase({ dataDir, databaseUrl: null, onThreadEnd })
  cleanUp(t, close)
  await db.insertInto('users').values(user('before')).execute()
  // A read that waits for a transaction starts the thread for reads.
  await db.transaction().execute(() => db.selectFrom('users').select('id').execute())
  const other = new DatabaseSync(join(dataDir, 'wayleave.db'))
  const transaction = db.transaction().execute(async (tx) => {
    await tx.insertInto('users').values(user('lost')).execute()
    await endThreads()
    // Until the threads have restarted, everything fails at once.
    await assert.rejects(db.selectFrom('users').select('id').execute(), isUnavailable)
    await untilSucceeds(() => db.selectFrom('users').select('id').execute())
    // On the new connection, outside a transaction, this row would be committed.
    await tx.insertInto('users').values(user('half')).execute()
  })
  await assert.rejects(transaction, isUnavailable)
  assert.equal(ends.length, 2)
  await untilSucceeds(() => db.insertInto('users').values(user('next')).execute())

  // Statements that are waiting in the thread when it exits fail too.
  other.exec('begin immediate')
  const waiting = db.insertInto('users').values(user('waits')).execute()
  const failed = assert.rejects(waiting, isUnavailable)
  await sleep(50)
  await endThreads()
  await failed
  other.exec('commit')
  other.close()
  await untilSucceeds(() => db.insertInto('users').values(user('last')).execute())
  const ids = (await db.selectFrom('users').select('id').orderBy('id').execute()).map(({ id }) => id)
  assert.deepEqual(ids, ['before', 'last', 'next'])
})

async function untilSucceeds(work: () => Promise<unknown>): Promise<void> {
  for (let round = 0; ; round++) {
    const error = await work().then(
      () => null,
      (failure: unknown) => failure,
    )
    if (error === null) return
    assert.ok(isUnavailable(error) && round < 500, String(error))
    await sleep(20)
  }
}

test('a server whose SQLite threads end responds 503, logs it, and serves again', async (t) => {
  const service = await openTestServer(t)
  const { token } = await signIn(service, 'ada@example.org')
  await endThreads()
  const list = await service.request('GET', '/v1/api-keys/my-keys', { token })
  assert.equal(list.status, 503, list.text)
  assert.equal(list.body.code, 'database-unavailable')
  await untilStatus(201, () => service.request('POST', '/v1/api-keys/personal', { token, body: MAP }))
  await untilStatus(200, () => service.request('GET', '/ready'))
  assert.ok(service.logLines.some((line) => line.includes('The thread of SQLite ended')))
})

const isRoot = process.getuid?.() === 0

function smallDisk(t: TestContext, megabytes: number): string {
  const folder = join(temporaryFolder(t), 'disk')
  mkdirSync(folder)
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'tmpfs', folder])
  cleanUp(t, () => execFileSync('umount', ['--lazy', folder]))
  return folder
}

/** Fills the rest of the disk to the last byte; returns a function that frees it again. */
function fill(folder: string): () => void {
  const path = join(folder, 'ballast')
  const file = openSync(path, 'w')
  for (const size of [1024 * 1024, 4096, 1]) {
    try {
      for (;;) writeSync(file, Buffer.alloc(size))
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC')
    }
  }
  closeSync(file)
  return () => rmSync(path)
}

test('a full disk is 503 disk-full on writes, reads go on, and it recovers by itself', {
  skip: isRoot ? false : 'needs root to mount a small disk',
}, async (t) => {
  const dataDir = smallDisk(t, 24)
  const service = await openTestServer(t, { dataDir, settings: { minFreeBytes: 1024 * 1024 } })
  const { token } = await signIn(service, 'ada@example.org')
  await publishText(service, 'places', 'places.geojson', points(50))
  const create = (name: string) =>
    service.request('POST', '/v1/api-keys/personal', { token, body: { ...MAP, name } })
  const key = await create('before')
  assert.equal(key.status, 201)
  assert.equal((await service.request('GET', '/ready')).status, 200)
  const free = fill(dataDir)
  const before = service.logLines.length
  // SQLite's WAL file may have a little space left.
  let refused = await create('full')
  for (let i = 0; i < 2000 && refused.status === 201; i++) refused = await create(`${'full '.repeat(15)}${i}`)
  const answers = [refused, await create('again')]
  assert.ok(answers.some(({ status }) => status === 503))
  for (const answer of answers.filter(({ status }) => status !== 201 && status !== 409)) {
    assert.equal(answer.status, 503, answer.text)
    assert.equal(answer.body.code, 'disk-full')
    assert.equal(answer.headers.get('retry-after'), '60')
  }
  // Reads still work.
  assert.equal((await service.request('GET', '/v1/api-keys/my-keys', { token })).status, 200)
  assert.ok(await keyOpens(service, key.body.secret))
  assert.equal((await service.request('GET', '/v1/dataset/places/sample/json')).status, 200)
  await sleep(5100)
  const ready = await service.request('GET', '/ready')
  assert.equal(ready.status, 503)
  const failed = ready.body.checks.map(({ check }: { check: string }) => check)
  assert.ok(failed.includes('disk'), failed.join())
  const lines = service.logLines.slice(before).join('\n')
  assert.ok(!/cannot rollback|no transaction is active/.test(lines), 'the cause is hidden')
  assert.match(lines, /no disk space/)
  free()
  await untilStatus(201, () => create('after'))
  await untilStatus(200, () => service.request('GET', '/ready'))
  // Usage that could not be saved meanwhile is saved now.
  await service.parts.meter.flush()
})

async function untilStatus(status: number, ask: () => ReturnType<TestServer['request']>): Promise<void> {
  for (let round = 0; ; round++) {
    const answer = await ask()
    if (answer.status === status) return
    assert.ok(round < 100, answer.text)
    await sleep(100)
  }
}

test('/ready names the disk, and the snapshot that cannot be read', async (t) => {
  const service = await openTestServer(t, { settings: { minFreeBytes: Number.MAX_SAFE_INTEGER } })
  const ready = await service.request('GET', '/ready')
  assert.equal(ready.status, 503)
  assert.deepEqual(
    ready.body.checks.map(({ check }: { check: string }) => check),
    ['disk'],
  )
  assert.ok(statfsSync(service.config.dataDir).bavail > 0)
  assert.equal((await service.request('GET', '/health')).status, 200)

  const other = await openTestServer(t)
  await publishText(other, 'places', 'places.geojson', points(10))
  const snapshots = join(other.config.dataDir, 'snapshots')
  for (const name of readdirSync(snapshots)) rmSync(join(snapshots, name), { recursive: true })
  const unreadable = await other.request('GET', '/ready')
  assert.equal(unreadable.status, 503)
  assert.deepEqual(
    unreadable.body.checks.map(({ check }: { check: string }) => check),
    ['snapshot'],
  )
  assert.ok(!unreadable.text.includes(other.config.dataDir), 'paths of the machine are not told')
})

test('a file that is not a database is named', async (t) => {
  const dataDir = temporaryFolder(t)
  const file = join(dataDir, 'wayleave.db')
  writeFileSync(file, 'not a database'.repeat(1000))
  await assert.rejects(openDatabase({ dataDir, databaseUrl: null }), {
    name: 'DatabaseError',
    message: `SQLite cannot use ${file}: file is not a database`,
  })
  assert.throws(() => tryLock(file), { message: `${file}: file is not a database` })
})
