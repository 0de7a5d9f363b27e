import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { hashOf } from '../../accounts/access/secret.ts'
import { MINUTE } from '../../base/clock.ts'
import { operator } from '../../base/events/events.ts'
import { keyOpens } from '../../testing/key-opens.ts'
import { signIn } from '../../testing/sign-in.ts'
import { testClock } from '../../testing/test-clock.ts'
import { openTestServer } from '../../testing/test-server.ts'
import { allowsRedirect, isRedirectUri, programOf, RegisteredClients, readClient } from './client.ts'

test('an address to return to is https, this machine with any port, or a scheme of a program', () => {
  const allowed = [
    'https://a.example/cb',
    'http://127.0.0.1:1/cb',
    'http://localhost/cb',
    'com.a.b:/cb',
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'vscode://a/cb',
    'com.a-b.c2://host/cb',
  ]
  for (const uri of allowed) assert.ok(isRedirectUri(uri), uri)
  const refused = [
    ...[
      'http://a.example/cb',
      'javascript:alert(1)',
      'data:text/html,x',
      'file:///etc/passwd',
      'blob:x',
      '/cb',
    ],
    ...['vbscript:x', 'about:blank', 'filesystem:https://a.example/x', 'view-source:https://a.example/'],
    ...['intent://x#Intent;end', 'intent:x', 'ms-settings:x', 'ms-msdt:/id', 'search-ms:query=x', 'editor:x'],
    ...[
      'ftp://a.example/cb',
      'ws://a.example/cb',
      'tel:1',
      'mailto:a@a.example',
      '.a:/cb',
      'a.:/cb',
      'a..b:/cb',
    ],
    ...['JavaScript:alert(1)', ' javascript:alert(1)', 'java\nscript:alert(1)'],
    ...['https://user:password@a.example/', 'https://a.example/#x', `https://a.example/${'x'.repeat(500)}`],
  ]
  for (const uri of refused) assert.ok(!isRedirectUri(uri), uri)
  const client = readClient('id', null, { redirect_uris: ['http://127.0.0.1:1/cb', 'https://a.example/cb'] })!
  assert.ok(allowsRedirect(client, 'http://127.0.0.1:4711/cb'))
  for (const uri of [
    'http://127.0.0.1:1/other',
    'https://a.example:8443/cb',
    'https://a.example/cb?x',
    'https://b.example/cb',
  ]) {
    assert.ok(!allowsRedirect(client, uri), uri)
  }
})

test('a program is the same with another port or order of addresses, and not with another name or address', () => {
  const program = (name: string, uris: string[], host: string | null = null) =>
    programOf(readClient(`id ${uris}`, host, { client_name: name, redirect_uris: uris })!)
  const editor = program('Editor', ['http://127.0.0.1:1/cb', 'https://a.example/cb'])
  assert.equal(program('Editor', ['https://a.example/cb', 'http://127.0.0.1:4711/cb']), editor)
  for (const other of [
    program('Editor 2', ['http://127.0.0.1:1/cb', 'https://a.example/cb']),
    program('Editor', ['http://127.0.0.1:1/cb', 'https://b.example/cb']),
    program('Editor', ['http://127.0.0.1:1/cb', 'https://a.example/cb'], 'a.example'),
  ]) {
    assert.notEqual(other, editor)
  }
})

test('the id of a registered client cannot be changed, nor made by another installation', () => {
  const clients = new RegisteredClients('one secret')
  const { id } = clients.register({
    client_name: 'An\u202e editor',
    redirect_uris: ['https://a.example/cb'],
  })!
  assert.equal(clients.find(id)!.name, 'An editor')
  const [, signature] = id.split('.')
  const other = Buffer.from(JSON.stringify(['An editor', ['https://evil.example/']])).toString('base64url')
  for (const changed of [`${other}.${signature}`, `${id}x`, id.slice(0, -1), `${id}.x`, other, '', '.']) {
    assert.equal(clients.find(changed), null, changed)
  }
  assert.equal(new RegisteredClients('another secret').find(id), null)
  assert.equal(clients.register({ redirect_uris: [] }), null)
})

test('a user gives an assistant a key: only the right client gets it, once, and the user can revoke it', async (t) => {
  const time = testClock()
  const service = await openTestServer(t, { clock: time.clock, settings: { allowInternalAddresses: true } })
  const user = await signIn(service, 'ada@example.org')
  const json = { 'content-type': 'application/json' }
  const send = (path: string, body: unknown, headers: Record<string, string> = json) =>
    fetch(service.url + path, {
      method: 'POST',
      headers,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  const metadata = await (await fetch(`${service.url}/.well-known/oauth-authorization-server`)).json()
  const resource = await (await fetch(`${service.url}/.well-known/oauth-protected-resource/mcp`)).json()
  assert.deepEqual(resource.authorization_servers, [metadata.issuer])
  const path = (address: string) => new URL(address).pathname

  const redirect_uri = 'http://127.0.0.1:33418/callback'
  const registered = await send(path(metadata.registration_endpoint), {
    client_name: 'Editor',
    redirect_uris: ['http://127.0.0.1/callback'],
  })
  const { client_id } = await registered.json()
  const verifier = randomBytes(32).toString('base64url')
  const asked = {
    client_id,
    redirect_uri,
    response_type: 'code',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state: 'a state & more',
    resource: resource.resource,
  }
  const shown = await (await send('/v1/assistants/request', asked)).json()
  assert.deepEqual([shown.name, shown.host, shown.returnsTo], ['Editor', null, '127.0.0.1:33418'])
  assert.match(shown.refusal, /error=access_denied.*state=a\+state/)

  const wrongs = {
    client_id: `${client_id}x`,
    redirect_uri: 'https://evil.example/',
    response_type: 'token',
    code_challenge: 'short',
    code_challenge_method: 'plain',
    resource: 'https://other.example/mcp',
  }
  for (const [name, value] of Object.entries(wrongs)) {
    const refused = await send('/v1/assistants/request', { ...asked, [name]: value })
    assert.equal((await refused.json()).code, 'assistant-request-invalid', name)
  }
  // It is parsed before anybody is known.
  assert.equal((await send('/v1/assistants/request', { ...asked, more: 'x'.repeat(20_000) })).status, 413)

  const bearer = { ...json, authorization: `Bearer ${user.token}` }
  const agree = async (tables: string[] | null = ['places']) => {
    const response = await send(
      '/v1/assistants/consent',
      { request: asked, tables, days: 30, credits: 3 },
      bearer,
    )
    assert.equal(response.status, 200)
    const address = new URL((await response.json()).redirect)
    assert.equal(address.origin + address.pathname, redirect_uri)
    assert.equal(address.searchParams.get('state'), asked.state)
    assert.equal(address.searchParams.get('iss'), metadata.issuer)
    return address.searchParams.get('code')!
  }
  assert.equal(
    (await send('/v1/assistants/consent', { request: asked, tables: null, days: 30, credits: 3 })).status,
    401,
  )

  const keysOf = async () =>
    (await (await fetch(`${service.url}/v1/api-keys/my-keys`, { headers: bearer })).json()).data
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const exchange = async (change: Record<string, string>) => {
    const fields = {
      grant_type: 'authorization_code',
      client_id,
      redirect_uri,
      code_verifier: verifier,
      ...change,
    }
    const response = await send(path(metadata.token_endpoint), new URLSearchParams(fields).toString(), form)
    assert.equal(response.headers.get('cache-control'), 'no-store')
    return { status: response.status, body: await response.json() }
  }
  const wrongFields: Record<string, string>[] = [
    { code_verifier: randomBytes(32).toString('base64url') },
    { redirect_uri: 'http://127.0.0.1:1/callback' },
    { client_id: `${client_id}x` },
    { code: 'another' },
    { grant_type: 'password' },
    { resource: 'https://other.example/mcp' },
  ]
  for (const change of wrongFields) {
    const refused = await exchange({ code: await agree(), ...change })
    assert.equal(refused.status, 400, JSON.stringify(change))
    assert.match(refused.body.error, /^(invalid_grant|unsupported_grant_type|invalid_target)$/)
  }
  const late = await agree()
  time.pass(3 * MINUTE)
  assert.equal((await exchange({ code: late })).body.error, 'invalid_grant')

  const twice = await agree()
  const both = await Promise.all([exchange({ code: twice }), exchange({ code: twice })])
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 400])
  const { body: shared } = both.find(({ status }) => status === 200)!
  assert.ok(!(await keyOpens(service, shared.access_token)), 'a code that was used twice leaves no key')
  await fetch(`${service.url}/v1/api-keys/${(await keysOf())[0].id}`, {
    method: 'DELETE',
    headers: { authorization: bearer.authorization },
  })

  const code = await agree()
  const { status, body: token } = await exchange({ code })
  assert.equal(status, 200)
  // Another program that saw the code has no verifier, and revokes nothing by trying.
  const guessed = await exchange({ code, code_verifier: randomBytes(32).toString('base64url') })
  assert.equal(guessed.body.error, 'invalid_grant')
  assert.deepEqual([token.token_type, token.expires_in], ['Bearer', 30 * 86_400])

  const list = { data: await keysOf() }
  assert.deepEqual(
    list.data.map((key: Record<string, unknown>) => [key['name'], key['permissions'], key['creditLimit']]),
    [['Editor', ['read:places'], 3]],
  )
  const list_tools = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
  const use = () =>
    send('/mcp', list_tools, {
      ...json,
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${token.access_token}`,
    })
  assert.equal((await use()).status, 200)

  // The same program signs in again, from another port: its key has a new secret, and what was agreed to now.
  const again = await exchange({ code: await agree(null) })
  assert.equal(again.status, 200)
  assert.equal((await use()).status, 401)
  // The key has another secret than the first code gave: a second use of that code revokes nothing any more.
  assert.equal((await exchange({ code })).body.error, 'invalid_grant')
  assert.ok(await keyOpens(service, again.body.access_token))
  assert.deepEqual(
    (await keysOf()).map((key: Record<string, unknown>) => [key['id'], key['permissions']]),
    [[list.data[0].id, ['read']]],
  )
  token.access_token = again.body.access_token
  assert.equal((await use()).status, 200)
  const revoked = await fetch(`${service.url}/v1/api-keys/${list.data[0].id}/revoke`, {
    method: 'POST',
    headers: { authorization: bearer.authorization },
  })
  assert.equal(revoked.status, 200)
  assert.equal((await use()).status, 401)
  // A revoked key stays revoked: the program gets another one.
  const last = await agree()
  token.access_token = (await exchange({ code: last })).body.access_token
  assert.equal((await use()).status, 200)
  // A second use, also when the code would have ended by itself, revokes what the first one got.
  time.pass(30 * MINUTE)
  assert.equal((await exchange({ code: last })).body.error, 'invalid_grant')
  assert.equal((await use()).status, 401)

  await t.test('a client whose id is the address of its description', async () => {
    const documents: Record<string, string> = {}
    const server = createServer((request, response) => {
      response.end(documents[request.url!] ?? '{')
    }).listen(0, '127.0.0.1')
    t.after(() => server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const document = { client_name: 'Desk', redirect_uris: [redirect_uri] }
    documents['/right'] = JSON.stringify({ ...document, client_id: `${origin}/right` })
    documents['/other'] = JSON.stringify({ ...document, client_id: `${origin}/right` })
    documents['/large'] = JSON.stringify({ ...document, client_id: `${origin}/large`, x: 'x'.repeat(20_000) })
    const right = await send('/v1/assistants/request', { ...asked, client_id: `${origin}/right` })
    assert.deepEqual((await right.json()).host, new URL(origin).host)
    for (const wrong of ['/other', '/large', '/absent']) {
      const refused = await send('/v1/assistants/request', { ...asked, client_id: origin + wrong })
      assert.equal(refused.status, 400, wrong)
    }
  })
})

test('without permission for internal addresses, the description of a client is not fetched from inside', async (t) => {
  let requests = 0
  const server = createServer((_, response) => {
    requests++
    response.end()
  }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const service = await openTestServer(t)
  const { port } = server.address() as AddressInfo
  for (const scheme of ['http', 'https']) {
    const response = await fetch(`${service.url}/v1/assistants/request`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        client_id: `${scheme}://127.0.0.1:${port}/client`,
        redirect_uri: 'https://a.example/',
        response_type: 'code',
        code_challenge: 'x'.repeat(43),
        code_challenge_method: 'S256',
      }),
    })
    assert.equal(response.status, 400)
  }
  assert.equal(requests, 0)
})

test('the key of an assistant belongs to the organization that the user acted for when they agreed', async (t) => {
  const service = await openTestServer(t)
  const { authorization, members, organizations, identity } = service.parts
  const ada = await signIn(service, 'ada@example.org')
  const { id } = await organizations.create(operator, 'Second')
  await members.add(operator, id, 'ada@example.org')
  const client = service.parts.registered.register({
    client_name: 'Editor',
    redirect_uris: ['https://a.example/cb'],
  })!
  const verifier = randomBytes(32).toString('base64url')
  const request = {
    client_id: client.id,
    redirect_uri: 'https://a.example/cb',
    response_type: 'code',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }
  for (const organizationId of [ada.organizationId, id]) {
    const caller = { userId: ada.userId, organizationId, origin: operator }
    const place = { issuer: service.url, resource: service.url }
    const address = await authorization.consent(caller, request, { tables: null, days: 1, credits: 0 }, place)
    // The user works in the other organization when the code is exchanged.
    const other = organizationId === id ? ada.organizationId : id
    const user = await identity.accessTokens.verify(ada.token)
    await identity.sessions.switch({ ...user!, origin: operator }, other)
    const { secret } = await authorization.exchange(
      {
        grant_type: 'authorization_code',
        code: new URL(address).searchParams.get('code')!,
        redirect_uri: request.redirect_uri,
        client_id: request.client_id,
        code_verifier: verifier,
        resource: undefined,
      },
      service.url,
      operator,
    )
    const [row] = await service.parts.database.db
      .selectFrom('api_keys')
      .select('organization_id')
      .where('secret_hash', '=', hashOf(secret))
      .execute()
    assert.equal(row!.organization_id, organizationId)
  }
})
