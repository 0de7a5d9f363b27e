import assert from 'node:assert/strict'
import { test } from 'node:test'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { createKey, openAccount, readAccountLedger } from '../../testing/account.ts'
import { points, publishText } from '../../testing/publish.ts'
import { openTestServer } from '../../testing/test-server.ts'

needs('postgres')

test('two nodes that sell at the same instant sell no more than there are credits, and to one key once', async (t) => {
  const first = await openTestServer(t, { database: 'postgres' })
  const { databaseUrl, dataDir } = first.config
  const nodes = [first, await openTestServer(t, { databaseUrl: databaseUrl!, dataDir })]
  await publishText(first, 'places', 'places.geojson', points(20), { description: { credits: 2 } })
  const account = await openAccount(first, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 7 })
  const created = Array.from({ length: 16 }, () => createKey(first, account, ['read'], 'organization'))
  const keys = await Promise.all(created)
  const ask = (node: number, key: string, format: string) =>
    nodes[node % 2]!.request('GET', `/v1/dataset/places/files/${format}`, { key })

  const same = await Promise.all(Array.from({ length: 20 }, (_, i) => ask(i, account.key, 'geojson')))
  assert.deepEqual(new Set(same.map(({ status }) => status)), new Set([200]))
  const charged = same.map(({ headers }) => Number(headers.get('credits-charged')))
  assert.equal(
    charged.reduce((sum, credits) => sum + credits, 0),
    2,
  )
  const raced = await Promise.all(keys.map(({ secret }, i) => ask(i, secret, 'geojson')))
  const count = (status: number) => raced.filter((answer) => answer.status === status).length
  assert.deepEqual([count(200), count(402)], [2, 14])
  const { balance, rows } = await readAccountLedger(nodes[1]!, account)
  assert.equal(balance, 1)
  assert.deepEqual(
    rows.map((row) => row.balance),
    [7, 5, 3, 1],
  )
})
