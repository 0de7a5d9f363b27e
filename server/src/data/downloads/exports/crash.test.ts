import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { needs } from '../../../../../scripts/test-run/needs.ts'
import { openAccount, readAccountLedger } from '../../../testing/account.ts'
import { startServerProcess } from '../../../testing/processes/server-process.ts'
import { points, publishText } from '../../../testing/publish.ts'
import { openTestServer, temporaryFolder } from '../../../testing/test-server.ts'
import { sweepExports } from './sweep-exports.ts'

needs('processes')

const path = '/v1/dataset/places/files'

test('a server killed during a build serves correct bytes after its restart, paid once, and leaves no partial files', async (t) => {
  const dataDir = temporaryFolder(t)
  const first = await openTestServer(t, { dataDir })
  await publishText(first, 'places', 'places.geojson', points(60_000))
  const account = await openAccount(first, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 10 })
  await first.stop()

  const snapshots = join(dataDir, 'snapshots')
  const exports = join(snapshots, readdirSync(snapshots)[0]!, 'exports')
  const partials = () => {
    try {
      return readdirSync(exports).filter((name) => name.includes('.partial-'))
    } catch {
      return []
    }
  }
  const doomed = await startServerProcess(t, dataDir)
  const asked = fetch(`${doomed.url}${path}/kml`, { headers: { 'x-api-key': account.key } }).catch(() => null)
  while (partials().length === 0) await sleep(2)
  await doomed.kill()
  assert.equal(await asked, null)

  const second = await openTestServer(t, { dataDir })
  const answer = await second.request('GET', `${path}/kml`, { key: account.key })
  assert.deepEqual([answer.status, answer.headers.get('credits-charged')], [200, '0'])
  assert.equal(answer.text.match(/<Placemark/g)?.length, 60_000)
  assert.ok(answer.text.trimEnd().endsWith('</kml>'))
  assert.equal((await readAccountLedger(second, account)).balance, 9)
  // The orphaned builder may outlive its server briefly; its leftovers are swept once it is gone.
  while (partials().length > 0) {
    await sleep(20)
    await sweepExports(join(exports, '..'))
  }
})

test('the ledger sums to the balance whenever the server is killed while keys download', async (t) => {
  const dataDir = temporaryFolder(t)
  const first = await openTestServer(t, { dataDir })
  const tables = ['a', 'b', 'c']
  for (const table of tables)
    await publishText(first, table, `${table}.geojson`, points(30), { description: { credits: 2 } })
  const account = await openAccount(first, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 40 })
  await first.stop()
  const headers = { 'x-api-key': account.key }
  let delivered = 0
  for (const format of ['csv', 'json', 'geojson']) {
    const server = await startServerProcess(t, dataDir)
    const downloads = tables.map(async (table) => {
      const response = await fetch(`${server.url}/v1/dataset/${table}/files/${format}`, { headers }).catch(
        () => null,
      )
      if (response?.ok) delivered += Number(response.headers.get('credits-charged'))
      await response?.arrayBuffer().catch(() => null)
      if (response) server.child.kill('SIGKILL')
    })
    await Promise.all(downloads)
    if (server.child.exitCode === null && server.child.signalCode === null) await once(server.child, 'exit')
  }
  const last = await openTestServer(t, { dataDir })
  const { balance, rows } = await readAccountLedger(last, account)
  assert.equal(
    rows.reduce((sum, row) => sum + row.amount, 0),
    balance,
  )
  rows.reduce((before, row) => {
    assert.equal(row.balance, before + row.amount)
    return row.balance
  }, 0)
  const spent = 40 - balance
  assert.ok(spent >= delivered, `${delivered} were told to clients, ${spent} are in the ledger`)
  const usage = (await last.request('GET', `/v1/api-keys/${account.keyId}/usage`, { token: account.token }))
    .body
  assert.equal(usage.totals.credits, spent, 'no credit is missing in the usage')
})
