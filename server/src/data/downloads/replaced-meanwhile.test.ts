import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { operator } from '../../base/events/events.ts'
import { openAccount, readAccountLedger } from '../../testing/account.ts'
import { getBytes } from '../../testing/get-bytes.ts'
import { sameProcessWork } from '../../testing/processes/same-process-work.ts'
import { points, publishText } from '../../testing/publish.ts'
import { openTestServer } from '../../testing/test-server.ts'

/** A server that calls the hooks, once each, when the next file is built. */
async function openReplacing(t: TestContext, keepVersions: number) {
  const nothing = async () => {}
  const hooks = { beforeBuild: nothing, afterBuild: nothing }
  const service = await openTestServer(t, {
    settings: { keepVersions },
    work: {
      buildExport: async (...args) => {
        const { beforeBuild, afterBuild } = hooks
        Object.assign(hooks, { beforeBuild: nothing, afterBuild: nothing })
        await beforeBuild()
        const built = await sameProcessWork.buildExport(...args)
        await afterBuild()
        return built
      },
    },
  })
  const publish = (count: number) => publishText(service, 'places', 'places.geojson', points(count))
  const addOns = ['API_ACCESS' as const, 'ARCHIVED_DATA' as const]
  const account = await openAccount(service, 'ada@example.org', { addOns, credits: 10 })
  const ledger = async () => {
    const { balance, rows } = await readAccountLedger(service, account)
    return { balance, amounts: rows.map(({ amount }) => amount).slice(1) }
  }
  return { service, hooks, publish, account, ledger }
}

const linesOf = (bytes: Buffer) => bytes.toString().trim().split('\n').length - 1

for (const moment of ['beforeBuild', 'afterBuild'] as const) {
  test(`${moment}: a download of the current version that is replaced meanwhile sends and charges the new one`, async (t) => {
    const { service, hooks, publish, account, ledger } = await openReplacing(t, 1)
    await publish(10)
    hooks[moment] = async () => void (await publish(20))
    const download = await getBytes(service, '/v1/dataset/places/files/csv', account.key)
    assert.equal(download.status, 200, download.bytes.toString())
    assert.equal(linesOf(download.bytes), 20)
    assert.equal(download.headers.get('credits-charged'), '1')
    assert.equal(download.headers.get('credits-remaining'), '9')
    assert.deepEqual(await ledger(), { balance: 9, amounts: [-1, 1, -1] })
    const purchases = await service.request('GET', '/v1/dataset/places/purchases', { key: account.key })
    assert.deepEqual(
      purchases.body.data.map(({ version }: { version: number }) => version),
      [2],
    )
  })

  test(`${moment}: a version that is asked for and pruned while it is built is 404 and free`, async (t) => {
    const { service, hooks, publish, account, ledger } = await openReplacing(t, 2)
    await publish(10)
    await publish(20)
    hooks[moment] = async () => void (await publish(30))
    const path = '/v1/dataset/places/archives/1/files/csv'
    const archived = await service.request('GET', path, { key: account.key })
    assert.deepEqual([archived.status, archived.body.code], [404, 'not-found'], archived.text)
    assert.deepEqual(await ledger(), { balance: 10, amounts: [-1, 1] })
    assert.equal(service.parts.runner.finished.export.failed, 0)
  })
}

test('the price of the new version is charged, and refused if the credits do not suffice', async (t) => {
  const { service, hooks, publish, account, ledger } = await openReplacing(t, 1)
  await publish(10)
  const setPrice = (credits: number) =>
    publishText(service, 'places', 'places.geojson', points(20), { description: { credits } })
  hooks.beforeBuild = async () => void (await setPrice(7))
  const path = '/v1/dataset/places/files/csv'
  const paid = await getBytes(service, path, account.key)
  assert.deepEqual([paid.status, paid.headers.get('credits-charged')], [200, '7'])
  assert.deepEqual(await ledger(), { balance: 3, amounts: [-1, 1, -7] })
  await publishText(service, 'places', 'places.geojson', points(10), { description: { credits: 3 } })
  hooks.beforeBuild = async () => void (await setPrice(4))
  assert.equal((await getBytes(service, path, account.key)).status, 402)
  assert.deepEqual(await ledger(), { balance: 3, amounts: [-1, 1, -7, -3, 3] })
})

test('a dataset that is replaced again while the download is repeated is 503, and nothing is charged', async (t) => {
  const { service, hooks, publish, account, ledger } = await openReplacing(t, 1)
  await publish(10)
  const replace = async () => void (await publish(20))
  hooks.beforeBuild = async () => {
    await replace()
    hooks.beforeBuild = replace
  }
  const download = await service.request('GET', '/v1/dataset/places/files/csv', { key: account.key })
  assert.deepEqual([download.status, download.body.code], [503, 'export-not-ready'], download.text)
  assert.ok(Number(download.headers.get('retry-after')) > 0)
  assert.deepEqual(await ledger(), { balance: 10, amounts: [-1, 1, -1, 1] })
})

test('conditional requests, and the name of the file, get the new version too', async (t) => {
  const { service, hooks, publish, account, ledger } = await openReplacing(t, 1)
  await publish(10)
  hooks.beforeBuild = async () => void (await publish(20))
  const headers = { range: 'bytes=0-5' }
  const part = await getBytes(service, '/v1/dataset/places/files/csv/places.csv', account.key, headers)
  assert.deepEqual([part.status, part.bytes.toString()], [206, 'number'])
  assert.deepEqual(await ledger(), { balance: 9, amounts: [-1] })
  hooks.beforeBuild = async () => void (await publish(30))
  const head = await getBytes(service, '/v1/dataset/places/files/kml', account.key, {}, 'HEAD')
  assert.equal(head.status, 200)
  const whole = await getBytes(service, '/v1/dataset/places/files/kml', account.key)
  assert.equal(head.headers.get('etag'), whole.headers.get('etag'))
})

test('a dataset that is unpublished while its file is built is 404, and nothing is charged', async (t) => {
  const { service, hooks, publish, account, ledger } = await openReplacing(t, 1)
  await publish(10)
  hooks.beforeBuild = async () => void (await service.parts.publishing.unpublish('places', operator))
  const gone = await service.request('GET', '/v1/dataset/places/files/csv', { key: account.key })
  assert.deepEqual([gone.status, gone.body.code], [404, 'not-found'], gone.text)
  assert.deepEqual(await ledger(), { balance: 10, amounts: [-1, 1] })
})

test('a build that fails although its version is there is 500, once', async (t) => {
  const { service, hooks, publish, account, ledger } = await openReplacing(t, 1)
  await publish(10)
  hooks.beforeBuild = async () => {
    throw new Error('broken')
  }
  const failed = await service.request('GET', '/v1/dataset/places/files/csv', { key: account.key })
  assert.deepEqual([failed.status, failed.body.code], [500, 'build-failed'])
  assert.deepEqual(await ledger(), { balance: 10, amounts: [-1, 1] })
})
