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

test('two nodes that sell at the same instant keep the budgets of keys and of their member', async (t) => {
  const first = await openTestServer(t, { database: 'postgres' })
  const { databaseUrl, dataDir } = first.config
  const nodes = [first, await openTestServer(t, { databaseUrl: databaseUrl!, dataDir })]
  await publishText(first, 'places', 'places.geojson', points(20), { description: { credits: 2 } })
  const account = await openAccount(first, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 100 })
  const { token, organizationId, userId } = account
  const keys = await Promise.all([createKey(first, account, ['read']), createKey(first, account, ['read'])])
  const buyAll = async () => {
    const formats = ['csv', 'json', 'geojson', 'kml', 'gpkg', 'fgb']
    const wanted = formats.flatMap((format) => keys.map((key, k) => ({ format, key, k })))
    const answers = await Promise.all(
      wanted.map(async ({ format, key, k }, i) => {
        const path = `/v1/dataset/places/files/${format}`
        return { k, answer: await nodes[i % 2]!.request('GET', path, { key: key.secret }) }
      }),
    )
    const refused = answers.filter(({ answer }) => answer.status !== 200)
    assert.deepEqual(new Set(refused.map(({ answer }) => answer.status)), new Set([402]))
    const charged = [0, 0]
    for (const { k, answer } of answers) charged[k]! += Number(answer.headers.get('credits-charged') ?? 0)
    return charged
  }
  const body = { creditLimit: 4 }
  for (const { id } of keys) await first.request('PATCH', `/v1/api-keys/${id}`, { token, body })
  const budget = `/v1/organization/${organizationId}/members/${userId}/budget`
  await first.request('PUT', budget, { token, body: { creditLimit: 7 } })
  const bought = await buyAll()
  assert.equal(bought[0]! + bought[1]!, 6)
  assert.ok(Math.max(...bought) <= 4, String(bought))
  await first.request('PUT', budget, { token, body: { creditLimit: null } })
  const more = await buyAll()
  assert.deepEqual([bought[0]! + more[0]!, bought[1]! + more[1]!], [4, 4])
  assert.equal((await readAccountLedger(nodes[1]!, account)).balance, 92)
})
