import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { DAY, HOUR, MINUTE, plus } from '../../base/clock.ts'
import { readSeenAt, writeSeenAt } from '../../base/database/heartbeat-store.ts'
import { type ControlDatabase, deleteInSteps, openDatabase } from '../../base/database/open.ts'
import { makeLogger } from '../../http/observability/logger.ts'
import { createKey, openAccount } from '../../testing/account.ts'
import { cleanUp } from '../../testing/cleanup.ts'
import { points, publishText } from '../../testing/publish.ts'
import { signIn } from '../../testing/sign-in.ts'
import {
  type DatabaseKind,
  databaseKinds,
  openTestServer,
  temporaryDatabase,
  temporaryFolder,
} from '../../testing/test-server.ts'
import { HousekeepingClock } from './housekeeping-clock.ts'

async function open(t: TestContext, kind: DatabaseKind): Promise<ControlDatabase> {
  const databaseUrl = kind === 'postgres' ? await temporaryDatabase(t) : null
  const database = await openDatabase({ databaseUrl, dataDir: temporaryFolder(t) })
  cleanUp(t, () => database.close())
  return database
}

function makeClock(database: ControlDatabase, now: () => Date, uptime: () => number, accept = false) {
  const lines: string[] = []
  const log = makeLogger('info', (line) => lines.push(line))
  return {
    lines,
    clock: new HousekeepingClock({ database, clock: now, log, maxSkew: 300, accept, uptime }),
  }
}

test('a clock that jumps ahead is believed after a day, and a start with it right again goes on at once', async (t) => {
  const database = await open(t, 'sqlite')
  const real = new Date('2026-03-01T12:00:00Z')
  let now = real
  let uptime = 0
  const first = makeClock(
    database,
    () => now,
    () => uptime,
  ).clock
  await first.start()
  assert.deepEqual(await first.now(), real)

  // The clock jumps while the server is running.
  now = plus(real, 31 * DAY)
  uptime = MINUTE
  assert.deepEqual(await first.now(), plus(real, MINUTE))
  assert.ok(first.held)

  // The clock is wrong at a start.
  const { clock: second, lines } = makeClock(
    database,
    () => now,
    () => uptime,
  )
  await second.start()
  assert.ok(lines.some((line) => line.includes('hours past the last time')))
  assert.deepEqual(await second.now(), plus(real, MINUTE))

  // The clock is corrected.
  now = plus(real, HOUR)
  const third = makeClock(
    database,
    () => now,
    () => uptime,
  ).clock
  await third.start()
  assert.deepEqual(await third.now(), now)

  // After a pause of a month, the clock is trusted after a day.
  now = plus(real, 40 * DAY)
  const fourth = makeClock(
    database,
    () => now,
    () => uptime,
  ).clock
  await fourth.start()
  assert.deepEqual(await fourth.now(), plus(real, HOUR))
  uptime += DAY
  now = plus(now, DAY)
  assert.deepEqual(await fourth.now(), now)
  assert.deepEqual(await readSeenAt(database.db), now)
})

test('a clock behind the last run is refused, and can be accepted', async (t) => {
  const database = await open(t, 'sqlite')
  const now = new Date('2026-03-01T12:00:00Z')
  await writeSeenAt(database.db, plus(now, 10 * MINUTE))
  const uptime = () => 0
  await assert.rejects(makeClock(database, () => now, uptime).clock.start(), {
    name: 'ClockError',
    message: /2026-03-01T12:00:00.000Z.*2026-03-01T12:10:00.000Z.*WAYLEAVE_ACCEPT_CLOCK/s,
  })
  await makeClock(database, () => now, uptime, true).clock.start()
  await makeClock(database, () => now, uptime).clock.start()
})

test('a machine whose clock is far from that of PostgreSQL does not start, and deletes by the clock of PostgreSQL', {
  skip: lacks('postgres'),
}, async (t) => {
  const database = await open(t, 'postgres')
  for (const skew of [-10 * MINUTE, 10 * MINUTE, 31 * DAY]) {
    const { clock } = makeClock(
      database,
      () => plus(new Date(), skew),
      () => 0,
    )
    await assert.rejects(clock.start(), {
      name: 'ClockError',
      message: /PostgreSQL.*WAYLEAVE_MAX_CLOCK_SKEW/s,
    })
  }
  const { clock } = makeClock(
    database,
    () => plus(new Date(), 2 * MINUTE),
    () => 0,
  )
  await clock.start()
  assert.ok(Math.abs((await clock.now()).getTime() - Date.now()) < MINUTE)
})

for (const kind of databaseKinds) {
  test(`one start with a clock 31 days ahead deletes no session and no right to fetch, on ${kind}`, async (t) => {
    const dataDir = temporaryFolder(t)
    const databaseUrl = kind === 'postgres' ? await temporaryDatabase(t) : undefined
    const first = await openTestServer(t, { dataDir, ...(databaseUrl && { databaseUrl }) })
    await publishText(first, 'places', 'places.geojson', points(10))
    const account = await openAccount(first, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 5 })
    const { secret } = await createKey(first, account, ['read'], 'organization')
    const download = await first.request('GET', '/v1/dataset/places/files/csv', { key: secret })
    assert.equal(download.status, 200)
    const { refreshToken } = await signIn(first, 'ada@example.org')
    await first.stop()

    const clock = () => plus(new Date(), 31 * DAY)
    const ahead = await openTestServer(t, { dataDir, ...(databaseUrl && { databaseUrl }), clock })
    await ahead.parts.housekeeping.whenIdle()
    await ahead.stop()

    const { db } = await reopen(t, dataDir, databaseUrl ?? null)
    for (const table of ['purchases', 'refresh_tokens', 'sign_in_links'] as const) {
      const rows = await db.selectFrom(table).selectAll().execute()
      assert.ok(rows.length > 0, `${table} was emptied`)
    }
    const again = await openTestServer(t, { dataDir, ...(databaseUrl && { databaseUrl }) })
    const free = await again.request('GET', '/v1/dataset/places/files/csv', { key: secret })
    assert.equal(free.headers.get('credits-charged'), '0')
    const refreshed = await again.request('POST', '/v1/auth/refresh', { body: { refreshToken } })
    assert.equal(refreshed.status, 200, refreshed.text)
  })

  test(`rows are deleted in steps, and others stay, on ${kind}`, async (t) => {
    const database = await open(t, kind)
    const { db } = database
    const row = (index: number, at: string) => ({ id: `b${index}`, at })
    for (let from = 0; from < 2500; from += 500) {
      await db
        .insertInto('usage_batches')
        .values(Array.from({ length: 500 }, (_, i) => row(from + i, '2026-01-01')))
        .execute()
    }
    await db.insertInto('usage_batches').values(row(9999, '2026-02-01')).execute()
    const deleted = await deleteInSteps(database, 'usage_batches', (batch) => batch('at', '<', '2026-01-15'))
    assert.equal(deleted, 2500)
    assert.deepEqual(await db.selectFrom('usage_batches').select('id').execute(), [{ id: 'b9999' }])
  })
}

async function reopen(t: TestContext, dataDir: string, databaseUrl: string | null): Promise<ControlDatabase> {
  const database = await openDatabase({ dataDir, databaseUrl })
  cleanUp(t, () => database.close())
  return database
}
