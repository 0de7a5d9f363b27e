import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { needs } from '../../../../../scripts/test-run/needs.ts'
import { sweepOutbox } from '../../../base/mail/outbox-mailer.ts'
import { openAccount, readAccountLedger } from '../../../testing/account.ts'
import { flipBit, snapshotFolder } from '../../../testing/damage-files.ts'
import { getBytes } from '../../../testing/get-bytes.ts'
import { points, publishText } from '../../../testing/publish.ts'
import { openTestServer, temporaryFolder } from '../../../testing/test-server.ts'
import { tryLockExports } from './exports-lock.ts'
import { sweepExports } from './sweep-exports.ts'

needs('time')

test('an export whose meta file is empty, cut off or wrong is built again, with the same bytes', async (t) => {
  const dataDir = temporaryFolder(t)
  const first = await openTestServer(t, { dataDir })
  await publishText(first, 'places', 'places.geojson', points(50))
  const account = await openAccount(first, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 10 })
  const path = '/v1/dataset/places/files/csv'
  const whole = await getBytes(first, path, account.key)
  const file = join(await snapshotFolder(first, 'places'), 'exports', 'places.csv')
  await first.stop()
  const damages = [
    () => truncateSync(`${file}.meta.json`, 0),
    () => truncateSync(`${file}.meta.json`, 20),
    () => writeFileSync(`${file}.meta.json`, '{"bytes":"many","sha256":7}'),
    () => truncateSync(file, 10),
    () => flipBit(file),
    () => rmSync(`${file}.meta.json`),
  ]
  for (const damage of damages) {
    damage()
    const service = await openTestServer(t, { dataDir })
    const answer = await getBytes(service, path, account.key)
    assert.equal(answer.status, 200, String(damage))
    assert.ok(answer.bytes.equals(whole.bytes), String(damage))
    assert.equal((await readAccountLedger(service, account)).balance, 9)
    await service.stop()
  }
})

test('an export that changes or vanishes while the server runs is built again', async (t) => {
  const service = await openTestServer(t)
  await publishText(service, 'places', 'places.geojson', points(50))
  const account = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 10 })
  const path = '/v1/dataset/places/files/csv'
  const whole = await getBytes(service, path, account.key)
  const file = join(await snapshotFolder(service, 'places'), 'exports', 'places.csv')
  for (const damage of [() => flipBit(file), () => rmSync(file)]) {
    damage()
    const answer = await getBytes(service, path, account.key)
    assert.equal(answer.status, 200)
    assert.ok(answer.bytes.equals(whole.bytes))
  }
  assert.equal((await readAccountLedger(service, account)).balance, 9)
})

test('what a killed build leaves is swept, and finished exports stay', async (t) => {
  const service = await openTestServer(t)
  await publishText(service, 'places', 'places.geojson', points(50))
  const account = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 10 })
  await getBytes(service, '/v1/dataset/places/files/csv', account.key)
  const folder = await snapshotFolder(service, 'places')
  const exports = join(folder, 'exports')
  const finished = readdirSync(exports).sort()
  writeFileSync(join(exports, 'places.kml'), 'no meta file was written')
  writeFileSync(join(exports, 'places.json.meta.json'), '{}')
  writeFileSync(join(exports, 'places.csv.meta.json.partial-4194305'), '')
  writeFileSync(join(folder, 'verified.json.partial-4194305'), '')
  await sweepExports(folder)
  assert.deepEqual(readdirSync(exports).sort(), finished)
  assert.ok(!existsSync(join(folder, 'verified.json.partial-4194305')))
})

test('a build that was running at the sweep removes what killed builds left', async (t) => {
  const service = await openTestServer(t)
  await publishText(service, 'places', 'places.geojson', points(50))
  const account = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 10 })
  const folder = await snapshotFolder(service, 'places')
  const exports = join(folder, 'exports')
  mkdirSync(exports)
  writeFileSync(join(exports, 'places.gpkg.partial-4194305'), '')
  writeFileSync(join(exports, 'places.kml'), 'no meta file was written')
  const unlock = tryLockExports(folder)!
  await sweepExports(folder)
  unlock()
  await getBytes(service, '/v1/dataset/places/files/csv', account.key)
  const names = readdirSync(exports).filter((name) => !name.startsWith('lock'))
  assert.deepEqual(names.sort(), ['places.csv', 'places.csv.meta.json'])
})

test('a mail that a killed process left half-written is removed at the start', async (t) => {
  const dataDir = temporaryFolder(t)
  const outbox = join(dataDir, 'outbox')
  mkdirSync(outbox)
  writeFileSync(join(outbox, '.2026-01-01.eml.part'), 'Subject: Sign in')
  writeFileSync(join(outbox, '2026-01-01.eml'), 'Subject: Sign in')
  await openTestServer(t, { dataDir })
  while (readdirSync(outbox).length > 1) await sleep(10)
  assert.deepEqual(readdirSync(outbox), ['2026-01-01.eml'])
})

test('a mail that another server is writing is left alone', async (t) => {
  const outbox = temporaryFolder(t)
  writeFileSync(join(outbox, '.new.eml.part'), '')
  await sweepOutbox(outbox, 60_000)
  assert.deepEqual(readdirSync(outbox), ['.new.eml.part'])
  await sweepOutbox(outbox, 0)
  assert.deepEqual(readdirSync(outbox), [])
})

/** The process that builds an export for this one; undefined if there is none. */
function builder(): number | undefined {
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      if (!readFileSync(`/proc/${name}/status`, 'utf8').includes(`\nPPid:\t${process.pid}\n`)) continue
      if (readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('exports/build-process')) return Number(name)
    } catch {
      // It ended meanwhile.
    }
  }
  return undefined
}

test('an export whose process is killed is built again, for the request that waits', async (t) => {
  const service = await openTestServer(t, { childProcesses: true })
  await publishText(service, 'places', 'places.geojson', points(3000))
  const account = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 10 })
  const download = getBytes(service, '/v1/dataset/places/files/kml', account.key)
  let killed = builder()
  while (killed === undefined) {
    await sleep(2)
    killed = builder()
  }
  process.kill(killed, 'SIGKILL')
  const { status, bytes } = await download
  assert.equal(status, 200)
  assert.equal(bytes.toString().match(/<Placemark/g)?.length, 3000)
  assert.equal((await readAccountLedger(service, account)).balance, 9)
})
