import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { operator } from '../../base/events/events.ts'
import { openAccount } from '../../testing/account.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { points, publishText } from '../../testing/publish.ts'
import { signIn } from '../../testing/sign-in.ts'
import { openTestServer, type TestServer } from '../../testing/test-server.ts'

const PLACES = points(30)

async function platformKey({ parts }: TestServer, permissions = ['read', 'write']): Promise<string> {
  return (await parts.keys.createPlatform(operator, { name: 'Platform', permissions })).secret
}

test('visibility is set when publishing, by PATCH and by commands, and new datasets have the default', async (t) => {
  const service = await openTestServer(t, { settings: { defaultVisibility: 'draft' } })
  const key = await platformKey(service)
  const visibility = async (table: string) =>
    (await service.request('GET', `/v1/dataset/${table}`, { key })).body.visibility
  await publishText(service, 'first', 'a.geojson', PLACES)
  await publishText(service, 'second', 'a.geojson', PLACES, { description: { visibility: 'open' } })
  assert.deepEqual([await visibility('first'), await visibility('second')], ['draft', 'open'])
  // A new version keeps it.
  await publishText(service, 'second', 'a.geojson', PLACES)
  assert.equal(await visibility('second'), 'open')

  const patch = (body: object) => service.request('PATCH', '/v1/dataset/first', { key, body })
  assert.equal((await patch({ visibility: 'private' })).status, 204)
  assert.equal(await visibility('first'), 'private')
  assert.equal((await patch({ visibility: 'secret' })).status, 400)
  const described = await runCommand(service.config, 'describe', 'first', '--visibility', 'public')
  assert.equal(described.code, 0, described.stderr)
  assert.equal(await visibility('first'), 'public')
  assert.equal((await runCommand(service.config, 'describe', 'first', '--visibility', 'x')).code, 2)

  const uploaded = await service.request('PUT', '/v1/dataset/third?visibility=private&filename=a.geojson', {
    key,
    body: PLACES,
    headers: { 'content-type': 'application/geo+json' },
  })
  assert.equal(uploaded.status, 202, uploaded.text)
  while ((await service.parts.jobs.find(uploaded.body.id)).state !== 'done') await sleep(20)
  assert.equal(await visibility('third'), 'private')
})

test('lists, searches and documents of everybody leave hidden datasets out', async (t) => {
  const service = await openTestServer(t, { settings: { admins: ['root@example.org'] } })
  for (const visibility of ['public', 'open', 'private', 'draft'] as const) {
    await publishText(service, `the_${visibility}`, 'a.geojson', PLACES, { description: { visibility } })
  }
  const { key } = await openAccount(service, 'ada@example.org', { addOns: ['GIS_ACCESS', 'API_ACCESS'] })
  const platform = await platformKey(service)
  const root = await signIn(service, 'root@example.org')
  const session = await service.request('POST', '/v1/auth/session-key', { token: root.token })
  const own = await openAccount(service, 'root@example.org')

  const PATHS = [
    '/v1/datasets',
    '/v1/datasets?q=the',
    '/v1/records/collections/datasets/items',
    '/v1/ogc/api',
    '/v1/ogc/collections',
    '/catalog.jsonld',
    '/catalog.ttl',
    '/sitemap.xml',
  ]
  const namesIn = async (path: string, caller?: string) => {
    const { text, status } = await service.request('GET', path, { ...(caller && { key: caller }) })
    assert.equal(status, 200, `${path} ${text}`)
    return ['public', 'open', 'private', 'draft'].filter((name) => text.includes(`the_${name}`))
  }
  for (const path of PATHS) {
    const isReadable = path === '/v1/ogc/collections'
    assert.deepEqual(await namesIn(path), isReadable ? ['open'] : ['public', 'open'], path)
    if (!path.startsWith('/v1')) continue
    assert.deepEqual(await namesIn(path, key), ['public', 'open'], path)
    assert.deepEqual(await namesIn(path, platform), ['public', 'open', 'private', 'draft'], path)
    if (isReadable) continue
    assert.deepEqual(await namesIn(path, session.body.secret), ['public', 'open', 'private', 'draft'], path)
    // The personal key of an administrator is like that of any user.
    assert.deepEqual(await namesIn(path, own.key), ['public', 'open'], path)
  }
  // A key that is limited to another dataset knows nothing of hidden ones.
  const limited = await platformKey(service, ['read:the_public'])
  assert.deepEqual(await namesIn('/v1/datasets', limited), ['public', 'open'])

  const head = async (table: string) => (await service.request('GET', `/datasets/${table}`)).text
  assert.equal(await head('the_private'), await head('nowhere'))
})
