import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { pino } from 'pino'
import { openAccount, readAccountLedger } from '../../testing/account.ts'
import { points, publishText } from '../../testing/publish.ts'
import { openTestServer } from '../../testing/test-server.ts'
import { extractPriceOf, refundIfBroken } from './extract-routes.ts'

test('a share is rounded up, a file without rows is free, and all rows cost what the download costs', () => {
  assert.equal(extractPriceOf(10, 'share', 1, 1000), 1)
  assert.equal(extractPriceOf(10, 'share', 100, 1000), 1)
  assert.equal(extractPriceOf(10, 'share', 101, 1000), 2)
  assert.equal(extractPriceOf(10, 'share', 1000, 1000), 10)
  assert.equal(extractPriceOf(10, 'share', 0, 1000), 0)
  assert.equal(extractPriceOf(10, 'whole', 1, 1000), 10)
  assert.equal(extractPriceOf(10, 'whole', 0, 1000), 0)
  assert.equal(extractPriceOf(10, 'free', 1000, 1000), 0)
  assert.equal(extractPriceOf(999_999, 'share', 9_999_999, 10_000_000), 999_999)
})

test('a file of filtered rows costs its share, tells the price before, and is paid once', async (t) => {
  const service = await openTestServer(t)
  await publishText(service, 'places', 'a.geojson', points(20), { description: { credits: 10 } })
  const addOns = ['GIS_ACCESS', 'API_ACCESS'] as ('GIS_ACCESS' | 'API_ACCESS')[]
  const account = await openAccount(service, 'ada@example.org', { addOns, credits: 14 })
  const path = '/v1/ogc/collections/places/extract'
  const all = `${path}?f=csv`
  const some = `${path}?f=csv&filter=${encodeURIComponent('number < 3')}`
  const ask = (method: string, url: string) => service.request(method, url, { key: account.key })
  const head = await ask('HEAD', all)
  assert.deepEqual([head.status, head.headers.get('wayleave-credits')], [200, '10'])
  const limited = (max: string) =>
    service.request('GET', all, { key: account.key, headers: { 'credits-max': max } })
  const raised = await limited('9')
  assert.deepEqual([raised.status, raised.body.code, raised.body.price], [402, 'price-higher', 10])
  assert.equal((await limited('-1')).status, 400)
  const first = await limited('10')
  assert.equal(first.status, 200, first.text)
  assert.equal(first.headers.get('wayleave-credits'), '10')
  assert.equal(first.headers.get('credits-remaining'), '4')
  // The same file again, and its HEAD.
  assert.equal((await ask('GET', all)).headers.get('wayleave-credits'), '0')
  assert.equal((await ask('HEAD', all)).headers.get('wayleave-credits'), '0')
  // Another file of the same rows is another purchase, and the download too.
  const refused = await ask('GET', `${path}?f=geojson`)
  assert.deepEqual([refused.status, refused.body.code], [402, 'credits-exhausted'])
  assert.equal((await ask('GET', '/v1/dataset/places/files/csv')).status, 402)
  // 3 of 20 rows are a share of 1.5.
  assert.equal((await ask('HEAD', some)).headers.get('wayleave-credits'), '2')
  assert.equal((await ask('GET', some)).headers.get('credits-remaining'), '2')
  const { rows } = await readAccountLedger(service, account)
  assert.deepEqual(
    rows.map(({ kind, amount }) => [kind, amount]),
    [
      ['correction', 14],
      ['download', -10],
      ['download', -2],
    ],
  )
})

test('a buyer of the version pays nothing for files of it, and the dataset may say another price', async (t) => {
  const service = await openTestServer(t)
  const description = { credits: 10 }
  await publishText(service, 'places', 'a.geojson', points(20), { description })
  await publishText(service, 'gifts', 'a.geojson', points(20), {
    description: { ...description, extractPrice: 'free' },
  })
  await publishText(service, 'wholes', 'a.geojson', points(20), {
    description: { ...description, extractPrice: 'whole' },
  })
  const addOns = ['GIS_ACCESS', 'API_ACCESS'] as ('GIS_ACCESS' | 'API_ACCESS')[]
  const account = await openAccount(service, 'ada@example.org', { addOns, credits: 10 })
  const price = async (table: string) => {
    const url = `/v1/ogc/collections/${table}/extract?f=csv`
    return (await service.request('HEAD', url, { key: account.key })).headers.get('wayleave-credits')
  }
  assert.deepEqual([await price('places'), await price('gifts'), await price('wholes')], ['10', '0', '10'])
  const bought = await service.request('GET', '/v1/dataset/places/files/kml', { key: account.key })
  assert.equal(bought.status, 200)
  assert.equal(await price('places'), '0')
  const file = await service.request('GET', '/v1/ogc/collections/places/extract?f=csv', { key: account.key })
  assert.deepEqual([file.status, file.headers.get('wayleave-credits')], [200, '0'])
})

test('a file that breaks off is refunded, but not to a client that has gone or reads too slowly', async () => {
  const cases = [
    { isGone: false, isLate: false, isRefunded: true },
    { isGone: true, isLate: false, isRefunded: false },
    { isGone: false, isLate: true, isRefunded: false },
  ]
  for (const { isGone, isLate, isRefunded } of cases) {
    const ends: Promise<unknown>[] = []
    const watch = <T>(work: Promise<T>) => {
      ends.push(work)
      return work
    }
    let refunds = 0
    const charge = { charged: 5, refund: async () => void refunds++ }
    const body = new PassThrough()
    const disconnected = () => (isGone ? AbortSignal.abort() : new AbortController().signal)
    refundIfBroken(body, charge, { disconnected, sending: { isLate } }, { cashier: { watch }, log: pino() })
    body.destroy(new Error('It broke off.'))
    await Promise.all(ends)
    assert.equal(refunds, isRefunded ? 1 : 0, JSON.stringify({ isGone, isLate }))
  }
})
