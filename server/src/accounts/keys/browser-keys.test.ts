import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { operator } from '../../base/events/events.ts'
import { CREATED, openKeyHolder } from '../../testing/key-holder.ts'
import { points, publishText } from '../../testing/publish.ts'
import { databaseKinds, temporaryFolder } from '../../testing/test-server.ts'

const PAGE = 'https://maps.example.org'
const ITEMS = '/v1/ogc/collections/towns/items'
const TILES = '/v1/ogc/collections/towns/tiles/WebMercatorQuad'

for (const database of databaseKinds) {
  test(`a key for pages and addresses opens for them only, and a change holds at once (${database})`, async (t) => {
    const { service, create, call, ada } = await openKeyHolder(t, {
      database,
      settings: { trustedProxies: ['127.0.0.1'] },
    })
    await publishText(service, 'towns', 'towns.geojson', points(10))
    await service.parts.administration.setAddOns(operator, ada.organizationId, () => ['GIS_ACCESS'])
    const lists = {
      allowedOrigins: ['HTTPS://maps.example.org/', 'https://*.example.net', PAGE],
      allowedAddresses: ['192.0.2.7', '2001:DB8::/32'],
    }
    const created = await create('/v1/api-keys/personal', { name: 'Map', permissions: ['read'], ...lists })
    assert.deepEqual(Object.keys(created), CREATED)
    const path = `/v1/api-keys/${created.id}`
    const record = (await call('GET', path)).body
    assert.deepEqual(record.allowedOrigins, [PAGE, 'https://*.example.net'])
    assert.deepEqual(record.allowedAddresses, ['192.0.2.7/32', '2001:db8::/32'])
    assert.deepEqual((await call('GET', '/v1/api-keys/my-keys')).body.data, [record])

    const read = async (headers: Record<string, string>) => {
      const answer = await service.request('GET', `${ITEMS}?limit=1`, { key: created.secret, headers })
      return answer.status === 200 ? 200 : `${answer.status} ${answer.body.code}`
    }
    const from = (address: string, origin = PAGE) => ({ 'x-forwarded-for': address, origin })
    // Twice: the second comes from memory, by the other transport.
    for (let round = 0; round < 2; round++) {
      assert.equal(await read(from('192.0.2.7')), 200)
      assert.equal(await read(from('::ffff:192.0.2.7', 'https://a.example.net')), 200)
      assert.equal(await read(from('2001:db8::5')), 200)
      assert.equal(await read({ 'x-forwarded-for': '192.0.2.7', referer: `${PAGE}/map` }), 200)
      assert.equal(await read({ 'x-forwarded-for': '192.0.2.7' }), '403 origin-not-allowed')
      assert.equal(await read(from('192.0.2.7', 'https://evil.example')), '403 origin-not-allowed')
      assert.equal(await read(from('192.0.2.8')), '403 address-not-allowed')
      // Only what the trusted proxy says counts: the last address of the list.
      assert.equal(await read(from('192.0.2.7, 192.0.2.8')), '403 address-not-allowed')
    }

    const cleared = await call('PATCH', path, { allowedOrigins: null, allowedAddresses: null })
    assert.deepEqual([cleared.body.allowedOrigins, cleared.body.allowedAddresses], [null, null])
    assert.equal(await read({}), 200)
    assert.equal((await call('PATCH', path, { allowedOrigins: [PAGE] })).status, 200)
    assert.equal(await read({}), '403 origin-not-allowed')
    const renamed = await call('PATCH', path, { name: 'Atlas' })
    assert.deepEqual(renamed.body.allowedOrigins, [PAGE])
  })
}

test('lists of allowed callers that are empty, wrong or too long are 400 with the place of the mistake', async (t) => {
  const { call, create } = await openKeyHolder(t, {})
  const base = { name: 'Map', permissions: ['read'] }
  const { id } = await create('/v1/api-keys/personal', base)
  const cases: [body: object, path: string][] = [
    [{ allowedOrigins: [] }, '/allowedOrigins'],
    [{ allowedOrigins: [PAGE, 'example.org'] }, '/allowedOrigins/1'],
    [{ allowedOrigins: PAGE }, '/allowedOrigins'],
    [{ allowedOrigins: Array(51).fill(PAGE) }, '/allowedOrigins'],
    [{ allowedAddresses: [] }, '/allowedAddresses'],
    [{ allowedAddresses: ['10.0.0.0/8', '10.0.0.0/99'] }, '/allowedAddresses/1'],
    [{ allowedAddresses: [7] }, '/allowedAddresses/0'],
  ]
  for (const [body, path] of cases) {
    for (const answer of [
      await call('POST', '/v1/api-keys/personal', { ...base, ...body }),
      await call('PATCH', `/v1/api-keys/${id}`, body),
    ]) {
      assert.equal(answer.status, 400, JSON.stringify(body))
      assert.equal(answer.body.errors[0].path, path)
    }
  }
})

test('only a key with allowed origins may be part of a URL, and no log has it', async (t) => {
  const file = join(temporaryFolder(t), 'access.log')
  const { service, create, ada } = await openKeyHolder(t, { settings: { accessLog: file } })
  await publishText(service, 'towns', 'towns.geojson', points(10))
  await service.parts.administration.setAddOns(operator, ada.organizationId, () => ['GIS_ACCESS'])
  await service.parts.tileBuilds.build(await service.parts.catalog.find('towns'))
  const forPages = await create('/v1/api-keys/personal', {
    name: 'Map',
    permissions: ['read'],
    allowedOrigins: [PAGE],
  })
  const forServers = await create('/v1/api-keys/personal')
  const get = (path: string, secret: string, headers: Record<string, string> = { origin: PAGE }) =>
    service.request('GET', `${path}${path.includes('?') ? '&' : '?'}api_key=${secret}`, { headers })
  const tile = `${TILES}/0/0/0`
  for (const path of [ITEMS, tile, `${ITEMS}/1`, '/v1/ogc/collections/towns', '/v1/datasets']) {
    for (let round = 0; round < 2; round++) {
      assert.equal((await get(path, forPages.secret)).status, 200, path)
      assert.equal((await get(path, forPages.secret, { referer: `${PAGE}/` })).status, 200, path)
      const wrong = await get(path, forPages.secret, { origin: 'https://evil.example' })
      assert.deepEqual([wrong.status, wrong.body.code], [403, 'origin-not-allowed'], path)
      assert.equal(wrong.headers.get('access-control-allow-origin'), '*')
      assert.equal((await get(path, forPages.secret, {})).status, 403, path)
      const refused = await get(path, forServers.secret)
      assert.deepEqual([refused.status, refused.body.code], [401, 'key-missing'], path)
      assert.match(refused.body.detail, /allowed origins/)
      assert.ok(!refused.text.includes(forServers.secret))
    }
  }
  // A map library has only the template of TileJSON, or of a style.
  const tileJson = await get(`${TILES}?f=tilejson`, forPages.secret)
  const style = await get('/v1/ogc/collections/towns/style', forPages.secret)
  for (const template of [tileJson.body.tiles[0], style.body.sources.towns.tiles[0]] as string[]) {
    assert.ok(template.endsWith(`&api_key=${forPages.secret}`))
    const url = template.replace('{z}/{y}/{x}', '0/0/0')
    assert.equal((await fetch(url, { headers: { origin: PAGE } })).status, 200)
  }
  const byHeader = await service.request('GET', `${TILES}?f=tilejson`, {
    key: forPages.secret,
    headers: { origin: PAGE },
  })
  assert.ok(!byHeader.text.includes(forPages.secret))
  // Links are for anybody they are shown to.
  assert.ok(!(await get(ITEMS, forPages.secret)).text.includes(forPages.secret))

  const preflight = await fetch(service.url + ITEMS, {
    method: 'OPTIONS',
    headers: {
      origin: PAGE,
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'x-api-key',
    },
  })
  assert.equal(preflight.status, 204)
  assert.equal(preflight.headers.get('access-control-allow-headers'), 'x-api-key')

  await service.parts.refusals.flush({ isLast: true })
  const events = await service.parts.database.db.selectFrom('events').selectAll().execute()
  const reasons = events.filter(({ action }) => action === 'key.refused').map(({ detail }) => detail)
  assert.ok(reasons.some((detail) => detail.includes('"reason":"origin-not-allowed"')))
  const everything = service.logLines.join('\n') + readFileSync(file, 'utf8') + JSON.stringify(events)
  for (const { secret } of [forPages, forServers]) assert.ok(!everything.includes(secret.slice(0, 30)))
})
