import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { DAY, MINUTE } from '../../base/clock.ts'
import { askForLink, nextMail, signIn, untakenMail } from '../../testing/sign-in.ts'
import { testClock } from '../../testing/test-clock.ts'
import { databaseKinds, openTestServer, type TestServer, testOnce } from '../../testing/test-server.ts'

const redeem = (service: TestServer, body: object) => service.request('POST', '/v1/auth/token', { body })

/** Waits until all requested mails were written or dropped. */
const mailed = (service: TestServer) => service.parts.identity.close()

for (const database of databaseKinds) {
  const guarantee = (name: string, run: (t: TestContext) => Promise<void>) =>
    test(`${name} (${database})`, run)
  const once = (name: string, run: (t: TestContext) => Promise<void>) => testOnce(database, name, run)

  guarantee('a new address signs up by its link, with an organization of its own', async (t) => {
    const settings = { newOrganizationAddOns: ['GIS_ACCESS' as const], newOrganizationCredits: 50 }
    const service = await openTestServer(t, { database, settings })
    const { token } = await signIn(service, ' Ada@Example.org ')
    const me = await service.request('GET', '/v1/auth/me', { token })
    assert.deepEqual(Object.keys(me.body), ['user', 'administrator', 'organization'])
    assert.deepEqual(Object.keys(me.body.user), ['id', 'email', 'createdAt'])
    assert.equal(me.body.user.email, 'ada@example.org')
    assert.equal(me.body.administrator, false)
    const own = await service.request('GET', '/v1/organization/me', { token })
    assert.deepEqual(own.body, me.body.organization)
    assert.deepEqual(
      { ...own.body, id: '', createdAt: '' },
      {
        id: '',
        name: "ada's organization",
        addOns: ['GIS_ACCESS'],
        credits: { balance: 50 },
        permissions: [
          'APIKEY_VIEW',
          'APIKEY_CREATE',
          'MEMBER_MANAGE',
          'BILLING_VIEW',
          'DATASET_PUBLISH',
          'BILLING_MANAGE',
        ],
        createdAt: '',
        suspendedAt: null,
        publishing: false,
      },
    )
    const ledger = await service.request('GET', `/v1/organization/${own.body.id}/ledger`, { token })
    assert.deepEqual(
      ledger.body.data.map((row: { kind: string; amount: number; balance: number }) => [
        row.kind,
        row.amount,
        row.balance,
      ]),
      [['grant', 50, 50]],
    )
  })

  once('a link works once', async (t) => {
    const service = await openTestServer(t, { database })
    const { token } = await askForLink(service, 'ada@example.org')
    const first = await redeem(service, { token })
    assert.equal(first.status, 200)
    assert.deepEqual(Object.keys(first.body).sort(), [
      'accessToken',
      'expiresIn',
      'refreshToken',
      'tokenType',
    ])
    assert.equal(first.body.tokenType, 'Bearer')
    assert.equal(first.body.expiresIn, 900)
    assert.equal(first.headers.get('cache-control'), 'no-store')
    const second = await redeem(service, { token })
    assert.equal(second.status, 401)
    assert.equal(second.body.code, 'sign-in-failed')
    assert.equal(second.headers.get('www-authenticate'), 'Bearer')
  })

  guarantee('a link works once, also when redeemed many times at the same instant', async (t) => {
    const service = await openTestServer(t, { database })
    const { token } = await askForLink(service, 'ada@example.org')
    const answers = await Promise.all(Array.from({ length: 10 }, () => redeem(service, { token })))
    assert.deepEqual(answers.map((answer) => answer.status).sort(), [200, ...Array(9).fill(401)])
  })

  guarantee('a code works once, also when redeemed many times at the same instant', async (t) => {
    const service = await openTestServer(t, { database })
    const { code } = await askForLink(service, 'ada@example.org')
    const body = { email: 'Ada@example.org', code }
    const answers = await Promise.all(Array.from({ length: 10 }, () => redeem(service, body)))
    assert.deepEqual(answers.map((answer) => answer.status).sort(), [200, ...Array(9).fill(401)])
  })

  once('the link of a mail is spent with its code', async (t) => {
    const service = await openTestServer(t, { database })
    const { code, token } = await askForLink(service, 'ada@example.org')
    assert.equal((await redeem(service, { email: 'ada@example.org', code })).status, 200)
    assert.equal((await redeem(service, { token })).status, 401)
  })

  once('fetching the link with GET or HEAD redeems nothing', async (t) => {
    const service = await openTestServer(t, { database })
    const { link, token } = await askForLink(service, 'ada@example.org')
    assert.equal(link, `${service.url}/sign-in#${token}`)
    for (const method of ['GET', 'HEAD']) {
      await fetch(link, { method })
      const answer = await service.request(method, '/v1/auth/token')
      assert.equal(answer.status, 405)
    }
    assert.equal((await redeem(service, { token })).status, 200)
  })

  once('the link of a mail leads back to the page it was asked from, and to no other site', async (t) => {
    const service = await openTestServer(t, { database })
    const ask = (next: string) =>
      service.request('POST', '/v1/auth/magic-link', { body: { email: 'ada@example.org', next } })
    assert.equal((await ask('/invitation#a~b')).status, 202)
    const { link, token } = await nextMail(service, 'ada@example.org')
    assert.equal(link, `${service.url}/sign-in#${token}~${encodeURIComponent('/invitation#a~b')}`)
    assert.equal((await redeem(service, { token })).status, 200)
    const foreign = [
      '//example.org',
      '/\\example.org',
      'https://example.org',
      'keys',
      '/a\nb',
      `/${'a'.repeat(2000)}`,
    ]
    for (const next of foreign) assert.equal((await ask(next)).status, 400, next)
  })

  once('a link and its code stop after 15 minutes', async (t) => {
    const { clock, pass } = testClock()
    const service = await openTestServer(t, { database, clock })
    const old = await askForLink(service, 'ada@example.org')
    pass(14 * MINUTE)
    const newer = await askForLink(service, 'ada@example.org')
    pass(MINUTE)
    assert.equal((await redeem(service, { token: old.token })).status, 401)
    assert.equal((await redeem(service, { email: 'ada@example.org', code: old.code })).status, 401)
    assert.equal((await redeem(service, { token: newer.token })).status, 200)
  })

  guarantee('of four links the oldest is void', async (t) => {
    const { clock, pass } = testClock()
    const service = await openTestServer(t, { database, clock })
    const mails = []
    for (let i = 0; i < 4; i++) {
      mails.push(await askForLink(service, 'ada@example.org'))
      pass(1)
    }
    const answers = []
    for (const { token } of mails) answers.push((await redeem(service, { token })).status)
    assert.deepEqual(answers, [401, 200, 200, 200])
  })

  guarantee('only the code of the newest mail works, also after that one was used', async (t) => {
    const service = await openTestServer(t, { database })
    const email = 'ada@example.org'
    const first = await askForLink(service, email)
    const second = await askForLink(service, email)
    assert.equal((await redeem(service, { email, code: first.code })).status, 401)
    assert.equal((await redeem(service, { email, code: second.code })).status, 200)
    assert.equal((await redeem(service, { email, code: first.code })).status, 401)
    assert.equal((await redeem(service, { token: first.token })).status, 200)
  })

  guarantee('a code is bound to the request that asked for it, where the client says so', async (t) => {
    const service = await openTestServer(t, { database })
    const ask = async (email: string, bind?: boolean) => {
      const asked = await service.request('POST', '/v1/auth/magic-link', { body: { email, bind } })
      assert.deepEqual(Object.keys(asked.body), ['message', 'request'])
      assert.match(asked.body.request, /^[\w-]{43}$/)
      return { request: asked.body.request as string, ...(await nextMail(service, email)) }
    }
    const ada = await ask('ada@example.org', true)
    const bob = await ask('bob@example.org')
    const body = { email: 'ada@example.org', code: ada.code }
    // Guesses without the value do not void the code: they are more than a link and a day allow.
    for (let guess = 0; guess < 11; guess++) {
      assert.equal((await redeem(service, body)).status, 401)
      assert.equal((await redeem(service, { ...body, request: bob.request })).status, 401)
    }
    assert.equal((await redeem(service, { ...body, request: ada.request })).status, 200)
    // A client that does not know the value signs in without it; one that sends a wrong one does not.
    const other = { email: 'bob@example.org', code: bob.code }
    assert.equal((await redeem(service, { ...other, request: ada.request })).status, 401)
    assert.equal((await redeem(service, other)).status, 200)
    const third = await ask('bob@example.org')
    const own = { email: 'bob@example.org', code: third.code, request: third.request }
    assert.equal((await redeem(service, own)).status, 200)
  })

  once('five wrong codes void the code, and not the link', async (t) => {
    const service = await openTestServer(t, { database })
    const { token, code } = await askForLink(service, 'ada@example.org')
    const wrong = { email: 'ada@example.org', code: otherThan(code) }
    const guesses = await Promise.all(Array.from({ length: 5 }, () => redeem(service, wrong)))
    assert.deepEqual(new Set(guesses.map((answer) => answer.body.code)), new Set(['sign-in-failed']))
    assert.equal((await redeem(service, { email: 'ada@example.org', code })).status, 401)
    assert.equal((await redeem(service, { token })).status, 200)
  })

  once('four wrong codes leave the right one working', async (t) => {
    const service = await openTestServer(t, { database })
    const { code } = await askForLink(service, 'ada@example.org')
    for (let i = 0; i < 4; i++) await redeem(service, { email: 'ada@example.org', code: otherThan(code) })
    assert.equal((await redeem(service, { email: 'ada@example.org', code })).status, 200)
  })

  once('ten wrong codes stop codes for a day, and not links', async (t) => {
    const { clock, pass } = testClock()
    const service = await openTestServer(t, { database, clock })
    const email = 'ada@example.org'
    for (let i = 0; i < 2; i++) {
      const { code } = await askForLink(service, email)
      for (let guess = 0; guess < 5; guess++) await redeem(service, { email, code: otherThan(code) })
      pass(20 * MINUTE)
    }
    const { code, token } = await askForLink(service, email)
    assert.equal((await redeem(service, { email, code })).status, 401)
    assert.equal((await redeem(service, { token })).status, 200)
    const other = await askForLink(service, 'bob@example.org')
    assert.equal((await redeem(service, { email: 'bob@example.org', code: other.code })).status, 200)
    pass(DAY)
    const later = await askForLink(service, email)
    assert.equal((await redeem(service, { email, code: later.code })).status, 200)
  })

  once(
    'known and unknown addresses get the same answer, and by invitation only known ones a mail',
    async (t) => {
      const service = await openTestServer(t, { database, settings: { signUp: 'invite' } })
      await service.parts.members.add(
        { actor: 'operator', address: null, requestId: null },
        (
          await service.parts.organizations.create(
            { actor: 'operator', address: null, requestId: null },
            'Survey',
          )
        ).id,
        'ada@example.org',
      )
      const ask = (email: string) => service.request('POST', '/v1/auth/magic-link', { body: { email } })
      const [known, unknown] = [await ask('ada@example.org'), await ask('eve@example.org')]
      assert.equal(known.status, 202)
      assert.deepEqual([known.status, comparableText(known)], [unknown.status, comparableText(unknown)])
      assert.notEqual(known.body.request, unknown.body.request)
      const comparable = (headers: Headers) => [...headers.keys()].filter((name) => name !== 'date').sort()
      assert.deepEqual(comparable(known.headers), comparable(unknown.headers))
      await mailed(service)
      assert.notEqual(await untakenMail(service, 'ada@example.org'), null)
      assert.equal(await untakenMail(service, 'eve@example.org'), null)
    },
  )

  once('an address beyond its limit gets the same answer and no mail', async (t) => {
    const service = await openTestServer(t, { database, settings: { signInRate: 5 } })
    const answers = []
    for (let i = 0; i < 7; i++) {
      answers.push(
        await service.request('POST', '/v1/auth/magic-link', { body: { email: 'ada@example.org' } }),
      )
    }
    assert.deepEqual(new Set(answers.map((answer) => `${answer.status} ${comparableText(answer)}`)).size, 1)
    await mailed(service)
    let mails = 0
    while (await untakenMail(service, 'ada@example.org')) mails++
    assert.equal(mails, 5)
  })

  once('a mail that no terminal sees is whole, 7bit, and has its link alone on a line', async (t) => {
    const baseUrl = `https://${'long-name.'.repeat(9)}example.org`
    const service = await openTestServer(t, { database, settings: { baseUrl } })
    const { source, token } = await askForLink(service, 'ada@example.org')
    assert.match(source, /^Content-Transfer-Encoding: 7bit\r$/m)
    assert.match(source, new RegExp(`^${baseUrl}/sign-in#${token}\\r$`, 'm'))
    assert.match(token, /^[\w-]{43}$/)
    assert.match(source, /^\d{6}\r$/m)
    assert.match(source, /--\r\n$/)
  })

  once(
    'nothing of a bad request for a link or a token is stored, and each wrong field is named',
    async (t) => {
      const service = await openTestServer(t, { database })
      const bad: [path: string, body: unknown, field: string][] = [
        ['/v1/auth/magic-link', {}, '/email'],
        ['/v1/auth/magic-link', { email: 7 }, '/email'],
        ['/v1/auth/magic-link', { email: 'nobody' }, '/email'],
        ['/v1/auth/magic-link', { email: `${'a'.repeat(400)}@example.org` }, '/email'],
        ['/v1/auth/magic-link', { email: 'ada@example.org', admin: true }, '/admin'],
        ['/v1/auth/token', {}, '/token'],
        ['/v1/auth/token', { token: '' }, '/token'],
        ['/v1/auth/token', { token: 'x', code: '123456' }, '/code'],
        ['/v1/auth/token', { email: 'ada@example.org' }, '/code'],
        ['/v1/auth/token', { code: '123456' }, '/email'],
        ['/v1/auth/token', { email: 'ada@example.org', code: '12345' }, '/code'],
        ['/v1/auth/token', { email: 'ada@example.org', code: 123456 }, '/code'],
        ['/v1/auth/token', { token: 'x', cookie: 'yes' }, '/cookie'],
        ['/v1/auth/refresh', { refreshToken: 5 }, '/refreshToken'],
        ['/v1/auth/refresh', { token: 'x' }, '/token'],
        ['/v1/auth/sign-out', { everything: true }, '/everything'],
      ]
      for (const [path, body, field] of bad) {
        const answer = await service.request('POST', path, { body })
        assert.equal(answer.status, 400, `${path} ${JSON.stringify(body)} ${answer.text}`)
        assert.deepEqual(
          answer.body.errors.map((error: { path: string }) => error.path),
          [field],
          answer.text,
        )
      }
      const garbled = await service.request('POST', '/v1/auth/token', { body: '{"token":' })
      assert.equal(garbled.body.code, 'malformed-json')
      await mailed(service)
      const { db } = service.parts.database
      for (const table of ['users', 'sign_in_links', 'wrong_codes', 'refresh_tokens', 'events'] as const) {
        assert.deepEqual(await db.selectFrom(table).selectAll().execute(), [], table)
      }
    },
  )

  once('no token, code or link of a sign-in is in any log line or event', async (t) => {
    const service = await openTestServer(t, { database })
    const mail = await askForLink(service, 'ada@example.org')
    await redeem(service, { token: 'A'.repeat(43) })
    const { body } = await redeem(service, { token: mail.token })
    const refreshed = await service.request('POST', '/v1/auth/refresh', {
      body: { refreshToken: body.refreshToken },
    })
    await service.request('POST', '/v1/auth/refresh', { body: { refreshToken: 'B'.repeat(43) } })
    await service.request('GET', '/v1/auth/me', { token: `${body.accessToken}x` })
    await service.request('POST', '/v1/auth/sign-out', {
      body: { refreshToken: refreshed.body.refreshToken },
    })
    const { db } = service.parts.database
    const events = await db.selectFrom('events').selectAll().execute()
    const written = [...service.logLines, JSON.stringify(events)].join('\n')
    assert.ok(service.logLines.length >= 6 && events.length >= 4)
    const secrets = [
      mail.token,
      mail.code,
      'A'.repeat(43),
      'B'.repeat(43),
      body.accessToken,
      body.refreshToken,
      refreshed.body.refreshToken,
    ]
    for (const secret of secrets) assert.ok(!written.includes(secret), `${secret} was written`)
    assert.deepEqual(
      events.map((event) => event.action),
      ['user.created', 'organization.created', 'member.added', 'session.started', 'session.ended'],
    )
  })
}

test('the newest link is shown in a demo on loopback, and nowhere else', async (t) => {
  const demo = await openTestServer(t, { settings: { demo: true } })
  const { link } = await askForLink(demo, 'ada@example.org')
  const shown = await demo.request('GET', '/v1/auth/demo-mail?email=Ada@example.org')
  assert.deepEqual(shown.body, { path: link.slice(demo.url.length) })
  assert.equal((await demo.request('GET', '/v1/auth/demo-mail?email=eve@example.org')).status, 404)
  assert.equal((await demo.request('GET', '/v1/auth/demo-mail?email=eve')).status, 400)
  const service = await openTestServer(t)
  assert.equal((await service.request('GET', '/v1/auth/demo-mail?email=ada@example.org')).status, 404)
})

/** The response to a request for a mail, without the random value in it. */
function comparableText({ text }: { text: string }): string {
  return text.replace(/"request":"[\w-]{43}"/, '"request":"…"')
}

function otherThan(code: string): string {
  return code === '000000' ? '000001' : '000000'
}
