import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { lockBalance } from '../../accounts/credits/ledger-store.ts'
import type { DataWork } from '../../base/data-work.ts'
import { createKey, openAccount, readAccountLedger } from '../../testing/account.ts'
import { points, publishText } from '../../testing/publish.ts'
import { databaseKinds, openTestServer, type TestServer } from '../../testing/test-server.ts'

const path = '/v1/dataset/places/files'

/** Starts another server on the same folder and database, as after an upgrade. */
function startAgain(t: Parameters<typeof openTestServer>[0], { config }: TestServer): Promise<TestServer> {
  return openTestServer(t, { dataDir: config.dataDir, databaseUrl: config.databaseUrl ?? undefined })
}

/** A build that does not end before the server stops. */
const buildUntilAborted: DataWork['buildExport'] = async (_folder, _format, _path, { signal }) => {
  await once(signal!, 'abort')
  throw signal!.reason
}

for (const database of databaseKinds) {
  test(`a stop before anything was sent gives the credits back, on ${database}`, async (t) => {
    const work = { buildExport: buildUntilAborted }
    const first = await openTestServer(t, { database, grace: 0, work })
    const { databaseUrl, dataDir } = first.config
    // It may claim the job, and must not build the file either.
    const other = databaseUrl ? await openTestServer(t, { databaseUrl, dataDir, work }) : null
    await publishText(first, 'places', 'places.geojson', points(60))
    const account = await openAccount(first, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 40 })
    const keys = Array.from({ length: 40 }, () => createKey(first, account, ['read'], 'organization'))
    const asked = (await Promise.all(keys)).map(({ secret }) =>
      first.request('GET', `${path}/kml`, { key: secret }).catch(() => null),
    )
    while ((await readAccountLedger(first, account)).balance > 0) await sleep(2)
    // If another node locks the balance for a while, refunds wait for it, and the shutdown waits for the
    // refunds.
    const held = other?.parts.database.db.transaction().execute(async (tx) => {
      await lockBalance(other.parts.database, tx, account.organizationId)
      await sleep(1000)
    })
    await first.stop()
    await Promise.all([...asked, held])
    const { balance, rows } = await readAccountLedger(other ?? (await startAgain(t, first)), account)
    assert.equal(rows.filter((row) => row.kind === 'refund').length, 40)
    assert.equal(balance, 40)
  })
}

test('a download that a stop cuts off is not paid for again: the rest is free', {
  skip: lacks('time'),
}, async (t) => {
  const first = await openTestServer(t, { grace: 0 })
  await publishText(first, 'places', 'places.geojson', points(80_000))
  const account = await openAccount(first, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 1 })
  const reader = connect(Number(new URL(first.url).port), '127.0.0.1').on('error', () => {})
  reader.write(
    `GET ${path}/geojson HTTP/1.1\r\nHost: x\r\nX-API-Key: ${account.key}\r\nConnection: close\r\n\r\n`,
  )
  await once(reader, 'readable')
  await first.stop()
  const received: Buffer[] = []
  reader.on('data', (data: Buffer) => received.push(data)).resume()
  await once(reader, 'close')
  const answer = Buffer.concat(received)
  const end = answer.indexOf('\r\n\r\n')
  const head = answer.subarray(0, end).toString('latin1')
  const begun = answer.subarray(end + 4)
  assert.match(head, /credits-charged: 1\r\n/i)
  assert.ok(begun.length < Number(/content-length: (\d+)/i.exec(head)![1]), 'it was cut off')

  const second = await startAgain(t, first)
  const rest = await fetch(`${second.url}${path}/geojson`, {
    headers: {
      'x-api-key': account.key,
      'accept-encoding': 'identity',
      range: `bytes=${begun.length}-`,
      'if-range': /etag: (\S+)/i.exec(head)![1]!,
    },
  })
  assert.deepEqual([rest.status, rest.headers.get('credits-charged')], [206, '0'])
  const whole = Buffer.concat([begun, Buffer.from(await rest.arrayBuffer())])
  assert.equal(JSON.parse(whole.toString()).features.length, 80_000)
  const { rows } = await readAccountLedger(second, account)
  assert.deepEqual(
    rows.map((row) => row.amount),
    [1, -1],
  )
})
