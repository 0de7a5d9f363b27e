import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { operator } from '../../base/events/events.ts'
import { createKey, openAccount } from '../../testing/account.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { points, publishText } from '../../testing/publish.ts'
import { signIn } from '../../testing/sign-in.ts'
import {
  databaseKinds,
  openTestServer,
  type RequestOptions,
  type TestServer,
} from '../../testing/test-server.ts'

async function openPublisher(service: TestServer, email: string) {
  const user = await openAccount(service, email, { credits: 100, addOns: ['API_ACCESS'] })
  await service.parts.organizationAdministration.setPublishing(operator, user.organizationId, true)
  const session = await service.request('POST', '/v1/auth/session-key', { token: user.token })
  return { ...user, session: session.body.secret as string }
}

function put(service: TestServer, table: string, credentials: RequestOptions, query = '') {
  return service.request('PUT', `/v1/dataset/${table}?filename=a.geojson${query}`, {
    ...credentials,
    body: points(30),
    headers: { 'content-type': 'application/geo+json' },
  })
}

async function publish(service: TestServer, table: string, credentials: RequestOptions, query = '') {
  const { body, status, text } = await put(service, table, credentials, query)
  assert.equal(status, 202, text)
  while (!['done', 'failed'].includes((await service.parts.jobs.find(body.id)).state)) await sleep(20)
  return service.parts.jobs.find(body.id)
}

for (const database of databaseKinds) {
  test(`an organization that may publish owns, changes, shares and removes its datasets (${database})`, async (t) => {
    const service = await openTestServer(t, { database, settings: { admins: ['root@example.org'] } })
    const { request } = service
    const ada = await openPublisher(service, 'ada@example.org')
    const bob = await openPublisher(service, 'bob@example.org')
    const eve = await openAccount(service, 'eve@example.org', { addOns: ['API_ACCESS'], credits: 10 })
    const statusOf = async (path: string, options: RequestOptions) =>
      (await request('GET', path, options)).status

    // With the token of a member.
    assert.equal((await publish(service, 'wells', ada, '&visibility=draft')).state, 'done')
    const metadata = await request('GET', '/v1/dataset/wells', { key: ada.session })
    assert.equal(metadata.body.owner.organizationId, ada.organizationId)
    assert.equal(metadata.body.visibility, 'draft')
    // The personal key may only read, so it does not see a draft.
    for (const key of [ada.key, bob.session, bob.key, eve.key])
      assert.equal(await statusOf('/v1/dataset/wells', { key }), 404)

    // With keys of the organization.
    const { secret: writer } = await createKey(service, ada, ['write:wells', 'read'], 'organization')
    const { secret: reader } = await createKey(service, ada, ['read'], 'organization')
    assert.equal((await publish(service, 'wells', { key: writer })).report?.version, 2)
    assert.equal((await put(service, 'others', { key: writer })).status, 403)
    assert.equal((await put(service, 'wells', { key: reader })).status, 403)
    const patch = (options: RequestOptions, body: object) =>
      request('PATCH', '/v1/dataset/wells', { ...options, body })
    assert.equal((await patch({ key: writer }, { visibility: 'private', credits: 3 })).status, 204)
    assert.equal(await statusOf('/v1/dataset/wells', { key: ada.key }), 200)

    // Another publisher: hidden datasets do not exist, and names are taken.
    for (const [method, path, body] of [
      ['PATCH', '/v1/dataset/wells', { title: 'Mine' }],
      ['DELETE', '/v1/dataset/wells', undefined],
      ['GET', '/v1/admin/datasets/wells/grants', undefined],
    ] as const) {
      const refused = await request(method, path, { token: bob.token, body })
      const unknown = await request(method, path.replace('wells', 'nowhere'), { token: bob.token, body })
      assert.deepEqual([refused.status, unknown.status], [404, 404], `${method} ${path}`)
      assert.equal(refused.body.detail.replace('wells', 'nowhere'), unknown.body.detail)
      assert.equal((await request(method, path, { token: eve.token, body })).status, 403)
    }
    assert.equal((await put(service, 'wells', bob)).status, 403)
    assert.equal((await put(service, 'anything', eve)).status, 403)

    // Shares it with Eve, who pays for a download.
    const grants = '/v1/admin/datasets/wells/grants'
    const body = { organizationId: eve.organizationId }
    assert.equal((await request('POST', grants, { token: ada.token, body })).status, 201)
    assert.equal(await statusOf('/v1/dataset/wells/files/csv', { key: eve.key }), 200)
    assert.equal(await statusOf('/v1/dataset/wells/files/csv', { key: ada.key }), 200)
    await service.parts.meter.flush()
    const own = `/v1/organization/${ada.organizationId}/datasets`
    const usage = await request('GET', `${own}/usage`, { token: ada.token })
    assert.equal(usage.body.datasets[0].table, 'wells')
    assert.equal(usage.body.totals.credits, 3)
    assert.equal((await request('GET', own, { token: ada.token })).body.data[0].table, 'wells')
    assert.equal(await statusOf(own, { token: bob.token }), 403)

    // Jobs and events of the organization only.
    const jobs = await request('GET', '/v1/jobs', { token: ada.token })
    assert.equal(jobs.body.data.length, 2)
    assert.equal((await request('GET', '/v1/jobs', { token: bob.token })).body.data.length, 0)
    assert.equal(await statusOf(`/v1/jobs/${jobs.body.data[0].id}`, { token: bob.token }), 404)
    assert.equal(await statusOf(`/v1/jobs/${jobs.body.data[0].id}`, { token: ada.token }), 200)

    assert.equal((await request('DELETE', '/v1/dataset/wells', { key: writer })).status, 204)
    assert.equal(await statusOf('/v1/dataset/wells', { key: ada.session }), 404)
  })
}

test('the operator stops publishers, and members need the permission', async (t) => {
  const service = await openTestServer(t)
  const ada = await signIn(service, 'ada@example.org')
  assert.equal((await put(service, 'wells', ada)).status, 403)
  const org = (...args: string[]) =>
    runCommand(service.config, 'org', 'publishing', ada.organizationId, ...args)
  const allowed = await org('--allow', '--json')
  assert.deepEqual([allowed.code, allowed.json.publishing], [0, true])
  assert.equal((await org()).code, 2)
  assert.equal((await publish(service, 'wells', ada)).state, 'done')
  const { body: me } = await service.request('GET', '/v1/organization/me', { token: ada.token })
  assert.equal(me.publishing, true)

  const { members } = service.parts
  await members.add(operator, ada.organizationId, 'bob@example.org', ['APIKEY_VIEW'])
  const bob = await signIn(service, 'bob@example.org')
  assert.equal((await put(service, 'wells', bob)).status, 403)
  const change = (permissions: string[]) =>
    service.request('PATCH', `/v1/organization/${ada.organizationId}/members/${bob.userId}`, {
      token: ada.token,
      body: { permissions },
    })
  assert.equal((await change(['DATASET_PUBLISH'])).status, 200)
  assert.equal((await publish(service, 'wells', bob)).state, 'done')

  // The operator's datasets are nobody else's.
  await publishText(service, 'parcels', 'a.geojson', points(3))
  const refused = await service.request('PATCH', '/v1/dataset/parcels', {
    token: bob.token,
    body: { title: 'Mine' },
  })
  assert.deepEqual([refused.status, refused.body.code], [403, 'permission-missing'])

  assert.equal((await org('--deny')).code, 0)
  assert.equal((await put(service, 'wells', bob)).status, 403)
  assert.equal((await service.request('GET', '/v1/dataset/wells')).status, 200)
  // What was accepted before is not published after.
  const late = { table: 'wells', file: 'a.geojson', description: {}, ownerId: ada.organizationId }
  await assert.rejects(
    publishText(service, 'wells', 'a.geojson', points(3), late),
    /not allowed to publish any more/,
  )
})
