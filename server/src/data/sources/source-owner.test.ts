import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operator } from '../../base/events/events.ts'
import type { Mail } from '../../base/mail/mail.ts'
import { openAccount } from '../../testing/account.ts'
import { points, publishText } from '../../testing/publish.ts'
import { signIn } from '../../testing/sign-in.ts'
import { databaseKinds, openTestServer } from '../../testing/test-server.ts'
import { until } from '../../testing/until.ts'
import { serve } from './sources.test-kit.ts'

for (const database of databaseKinds) {
  test(`another publisher gets neither a source nor its credentials with the name of its dataset (${database})`, async (t) => {
    const secretKey = 'a key that is long enough for the settings'
    const service = await openTestServer(t, {
      database,
      settings: { allowInternalAddresses: true, secretKey },
    })
    const { sources } = service.parts
    const received: (string | undefined)[] = []
    const url = await serve(t, ({ headers }, response) => {
      received.push(headers.authorization)
      response.end(points(3))
    })
    const secret = url.replace('//', '//owner:sesame@')
    const open = async (email: string) => {
      const account = await openAccount(service, email, { permissions: ['read', 'write'] })
      await service.parts.organizationAdministration.setPublishing(operator, account.organizationId, true)
      return account
    }
    const wishes = { name: 'Operator', permissions: ['read', 'write'] }
    const { secret: platformKey } = await service.parts.keys.createPlatform(operator, wishes)
    const [owner, rival] = [await open('owner@example.org'), await open('rival@example.org')]
    const set = (table: string, address: string, key: string) =>
      service.request('PUT', `/v1/dataset/${table}/source`, { key, body: { address } })
    const ended = async (id: string) => {
      await until('the job ends', async () => /done|failed/.test((await service.parts.jobs.find(id)).state))
      return service.parts.jobs.find(id)
    }
    const setOwner = (table: string, owner_id: string | null) =>
      service.parts.database.db
        .updateTable('sources')
        .set({ owner_id })
        .where('table_name', '=', table)
        .execute()
    const upload = (table: string, key: string) =>
      service.request('PUT', `/v1/dataset/${table}?filename=a.geojson`, {
        key,
        body: points(3),
        headers: { 'content-type': 'application/geo+json' },
      })

    for (const [table, key] of [
      ['wells', owner.key],
      ['parcels', platformKey],
    ] as const) {
      assert.equal((await set(table, `${secret}/a.geojson`, key)).body.hasCredentials, true)
      // The name is taken before the first run, also for a file that was accepted before.
      assert.equal((await upload(table, rival.key)).status, 403)
      const late = { table, file: 'a.geojson', description: {}, ownerId: rival.organizationId }
      await assert.rejects(publishText(service, table, 'a.geojson', points(3), late), /another publisher/)
      assert.equal((await set(table, `${url}/b.geojson`, rival.key)).status, 403)

      // Even if the dataset is the other's, as one that was published before names were taken.
      const ownerId = table === 'wells' ? owner.organizationId : null
      await setOwner(table, rival.organizationId)
      await publishText(service, table, 'a.geojson', points(3), late)
      await setOwner(table, ownerId)
      const refused = await ended((await sources.request(table, operator)).id)
      assert.equal(refused.state, 'failed')
      assert.match((await sources.runs(table, 1))[0]!.problem!, /another publisher/)
      assert.deepEqual(received, [])
      for (const [method, path] of [
        ['GET', ''],
        ['GET', '/runs'],
        ['POST', '/run'],
        ['DELETE', ''],
      ] as const) {
        const answer = await service.request(method, `/v1/dataset/${table}/source${path}`, { key: rival.key })
        assert.equal(answer.status, 404, `${method} ${path}`)
      }
      assert.equal((await set(table, `${url}/b.geojson`, rival.key)).body.hasCredentials, false)
      assert.deepEqual(await sources.runs(table, 10), [])
      assert.equal((await ended((await sources.request(table, operator)).id)).state, 'done')
      assert.deepEqual(received.splice(0), [undefined])
    }
  })
}

for (const database of databaseKinds) {
  test(`of two publishers who set a source of the same name at once, one gets it (${database})`, async (t) => {
    const service = await openTestServer(t, { database, settings: { allowInternalAddresses: true } })
    const { sources } = service.parts
    const ownerIds = await Promise.all(
      ['ada', 'bob'].map(async (name) => (await openAccount(service, `${name}@example.org`)).organizationId),
    )
    const tables = Array.from({ length: 40 }, (_, index) => `wells_${index}`)
    for (const table of tables) {
      const results = await Promise.allSettled(
        ownerIds.map((ownerId) => {
          const address = `http://127.0.0.1:1/${ownerId}.csv`
          return sources.set({ table, ownerId, address, every: null, settings: {} }, operator)
        }),
      )
      const [failure, ...others] = results.filter((result) => result.status === 'rejected')
      assert.match(String(failure?.reason), /taken by another publisher/)
      assert.deepEqual(others, [])
      const owner = ownerIds[results.findIndex(({ status }) => status === 'fulfilled')]!
      assert.equal(await sources.ownerOf(table), owner)
      assert.match((await sources.find(table)).address, new RegExp(owner))
    }
  })
}

test('who has left the organization gets no mail about its source', async (t) => {
  const service = await openTestServer(t, {
    settings: { allowInternalAddresses: true, admins: ['root@example.org'] },
  })
  const { members, organizationAdministration, sources } = service.parts
  const ada = await openAccount(service, 'ada@example.org')
  const { organizationId } = ada
  await organizationAdministration.setPublishing(operator, organizationId, true)
  await members.add(operator, organizationId, 'carl@example.org', ['DATASET_PUBLISH'])
  const carl = await signIn(service, 'carl@example.org')
  const url = await serve(t, (_request, response) => void response.writeHead(410).end())
  const mailed: string[] = []
  t.mock.method(service.parts.identity.mailer, 'post', ({ to }: Mail) => void mailed.push(to))
  const failsFor = async (table: string) => {
    await sources.request(table, operator)
    await until('a mail', () => mailed.length > 0)
    return mailed.splice(0)
  }
  for (const table of ['wells', 'springs']) {
    const body = { address: `${url}/a.csv` }
    const set = await service.request('PUT', `/v1/dataset/${table}/source`, { token: carl.token, body })
    assert.equal(set.status, 200, set.text)
  }
  assert.deepEqual(await failsFor('wells'), ['carl@example.org'])
  await members.remove(null, operator, organizationId, carl.userId)
  assert.deepEqual(await failsFor('springs'), ['root@example.org'])
})
