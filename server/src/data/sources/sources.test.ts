import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { HOUR, MINUTE } from '../../base/clock.ts'
import { operator } from '../../base/events/events.ts'
import { openAccount } from '../../testing/account.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { points } from '../../testing/publish.ts'
import { testClock } from '../../testing/test-clock.ts'
import { databaseKinds, openTestServer, type TestServer } from '../../testing/test-server.ts'
import { until } from '../../testing/until.ts'
import { parseSourceAddress, withSecretParameters } from './source-address.ts'
import { nextAttempt, nextRun, requireSchedule } from './source-schedule.ts'
import { serve } from './sources.test-kit.ts'

const settings = { allowInternalAddresses: true, admins: ['root@example.org'] }

async function platformKey(service: TestServer): Promise<string> {
  const wishes = { name: 'Publisher', permissions: ['read', 'write'] }
  return (await service.parts.keys.createPlatform(operator, wishes)).secret
}

const runsOf = async (service: TestServer, key: string, count: number) =>
  until(`${count} runs`, async () => {
    const { body } = await service.request('GET', '/v1/dataset/places/source/runs', { key })
    return body.data.length >= count && (body.data as { outcome: string; isManual: boolean }[])
  })

for (const database of databaseKinds) {
  test(`a source is refreshed when it is due, and makes a version only if it has changed, on ${database}`, async (t) => {
    const { clock, pass } = testClock()
    const service = await openTestServer(t, { database, clock, settings })
    const key = await platformKey(service)
    let content = points(5)
    let requests = 0
    const url = await serve(t, ({ headers }, response) => {
      requests++
      const etag = `"${content.length}"`
      if (headers['if-none-match'] === etag) response.writeHead(304).end()
      else response.writeHead(200, { etag }).end(content)
    })
    const body = { address: `${url}/places.geojson`, every: '6h', options: { idColumn: 'number' } }
    const set = await service.request('PUT', '/v1/dataset/places/source', { key, body })
    assert.equal(set.status, 200, set.text)
    assert.deepEqual(
      [set.body.kind, set.body.every, set.body.hasCredentials, set.body.options],
      ['file', '6h', false, { idColumn: 'number' }],
    )
    await service.parts.sources.sweep()
    const [first] = await runsOf(service, key, 1)
    assert.partialDeepStrictEqual(first, { outcome: 'published', version: 1, rows: 5, isManual: false })
    // Not due yet.
    await service.parts.sources.sweep()
    assert.equal(requests, 1)
    pass(6 * HOUR)
    await service.parts.sources.sweep()
    assert.equal((await runsOf(service, key, 2))[0]!.outcome, 'unchanged')
    content = points(6)
    pass(MINUTE)
    const job = await service.request('POST', '/v1/dataset/places/source/run', { key })
    assert.equal(job.status, 202)
    assert.partialDeepStrictEqual((await runsOf(service, key, 3))[0]!, {
      version: 2,
      rows: 6,
      isManual: true,
    })
    const { body: done } = await service.request('GET', `/v1/jobs/${job.body.id}`, { key })
    assert.deepEqual([done.state, done.report.version], ['done', 2])
    const { body: record } = await service.request('GET', '/v1/dataset/places/source', { key })
    assert.deepEqual([record.failures, record.lastRun.version], [0, 2])
    assert.equal((await service.request('DELETE', '/v1/dataset/places/source', { key })).status, 204)
    assert.equal((await service.request('GET', '/v1/dataset/places/source', { key })).status, 404)
    assert.equal((await service.request('GET', '/v1/dataset/places')).body.version, 2)
  })
}

test('a source that fails is tried again after growing pauses, is mailed once, and the version stays', async (t) => {
  const { clock, pass } = testClock()
  const service = await openTestServer(t, { clock, settings })
  const key = await platformKey(service)
  let isBroken = false
  const url = await serve(t, (_request, response) =>
    isBroken ? void response.writeHead(410).end() : void response.end(points(5)),
  )
  const body = { address: `${url}/places.geojson`, every: '1d' }
  await service.request('PUT', '/v1/dataset/places/source', { key, body })
  await service.parts.sources.sweep()
  await runsOf(service, key, 1)
  isBroken = true
  const source = async () => (await service.request('GET', '/v1/dataset/places/source', { key })).body
  for (const [failures, minutes] of [
    [1, 5],
    [2, 10],
    [3, 20],
  ] as const) {
    pass(25 * HOUR)
    await service.parts.sources.sweep()
    const [run] = await runsOf(service, key, failures + 1)
    assert.match((run as unknown as { problem: string }).problem, /responded with the status 410/)
    const record = await source()
    assert.equal(record.failures, failures)
    const pause = Date.parse(record.nextRunAt) - Date.parse(record.lastRun.endedAt)
    assert.equal(Math.round(pause / MINUTE), minutes)
  }
  assert.equal((await service.request('GET', '/v1/dataset/places')).body.version, 1)
  const outbox = join(service.config.dataDir, 'outbox')
  const mails = await until('a mail', () => {
    const texts = readdirSync(outbox)
      .filter((name) => name.endsWith('.eml'))
      .map((name) => readFileSync(join(outbox, name), 'utf8'))
    const failed = texts.filter((text) => text.includes('The source of places could not be published'))
    return failed.length > 0 && failed
  })
  assert.equal(mails.length, 1)
  assert.match(mails[0]!, /To: root@example\.org/)
  isBroken = false
  pass(25 * HOUR)
  await service.parts.sources.sweep()
  await until('it works again', async () => (await source()).failures === 0)
})

test('credentials are stored encrypted, are never shown, and stay with their host', async (t) => {
  const secretKey = 'a key that is long enough for the settings'
  const service = await openTestServer(t, { settings: { ...settings, secretKey } })
  const key = await platformKey(service)
  const received: unknown[] = []
  const url = await serve(t, ({ headers, url: path }, response) => {
    received.push([headers.authorization, headers['x-api-key'], path!.split('?')[1]])
    response.end(points(3))
  })
  const address = `${url.replace('//', '//reader:open%20sesame@')}/places.geojson?token=third%20sesame&year=2026`
  const put = (body: object) => service.request('PUT', '/v1/dataset/places/source', { key, body })
  const { body } = await put({ address, headers: { 'X-API-Key': 'sesame too' } })
  assert.deepEqual([body.address, body.hasCredentials], [`${url}/places.geojson?year=2026`, true])
  const run = async (count: number) => {
    await service.request('POST', '/v1/dataset/places/source/run', { key })
    await runsOf(service, key, count)
  }
  await run(1)
  const expected = [`Basic ${Buffer.from('reader:open sesame').toString('base64')}`, 'sesame too']
  assert.deepEqual(received, [[...expected, 'year=2026&token=third%20sesame']])
  const row = await service.parts.database.db.selectFrom('sources').selectAll().executeTakeFirstOrThrow()
  assert.match(row.credentials!, /^aes-256-gcm:/)
  const events = await service.parts.database.db.selectFrom('events').selectAll().execute()
  assert.ok(!`${JSON.stringify(events)}${service.logLines.join('')}`.includes('sesame'))
  await put({ address: `${url}/other.geojson` })
  await run(2)
  assert.deepEqual(received.at(-1), [...expected, 'token=third%20sesame'])
  const moved = await put({ address: 'https://elsewhere.example.org/places.geojson' })
  assert.equal(moved.body.hasCredentials, false)
  const without = await openTestServer(t, { settings })
  const refused = await without.request('PUT', '/v1/dataset/places/source', {
    key: await platformKey(without),
    body: { address },
  })
  assert.deepEqual([refused.status, refused.body.code], [409, 'conflict'])
})

test('an invalid source or schedule is refused, and sources belong to their publishers', async (t) => {
  const service = await openTestServer(t, { settings })
  const key = await platformKey(service)
  const put = (body: object, caller: object = { key }) =>
    service.request('PUT', '/v1/dataset/places/source', { ...caller, body })
  const https = 'https://example.org/a.csv'
  for (const body of [
    { address: 'ftp://example.org/a.csv' },
    { address: '/etc/passwd' },
    { address: https, every: '1m' },
    { address: https, every: '* * * * *' },
    { address: https, every: 'often' },
    { address: https, options: { query: 'SELECT 1' } },
    { address: 'postgres://db.example.org/gis' },
    { address: https, headers: { 'x-key': 'a\r\nb: c' } },
    { address: https, unknown: 1 },
  ])
    assert.equal((await put(body)).status, 400, JSON.stringify(body))
  const owner = await openAccount(service, 'owner@example.org', { permissions: ['read', 'write'] })
  const rival = await openAccount(service, 'rival@example.org', { permissions: ['read', 'write'] })
  assert.equal((await put({ address: https }, { key: owner.key })).status, 403)
  for (const { organizationId } of [owner, rival])
    await service.parts.organizationAdministration.setPublishing(operator, organizationId, true)
  assert.equal((await put({ address: https }, { key: owner.key })).status, 200)
  const get = (caller: object, path = '') =>
    service.request('GET', `/v1/dataset/places/source${path}`, caller)
  assert.equal((await get({ key: owner.key })).status, 200)
  for (const path of ['', '/runs']) assert.equal((await get({ key: rival.key }, path)).status, 404)
  assert.equal((await put({ address: https }, { key: rival.key })).status, 403)
  assert.equal((await get({})).status, 401)
})

test('secrets in the parameters of an address are credentials', () => {
  const parse = (address: string) => parseSourceAddress(address)
  assert.deepEqual(
    parse('postgres://db.example.org/gis?user=reader&password=open%20sesame&sslmode=require'),
    {
      kind: 'postgres',
      address: 'postgres://db.example.org/gis?sslmode=require',
      credentials: { username: 'reader', password: 'open sesame' },
    },
  )
  const signed = 'https://a.example.org/x.csv?sv=2024&se=2026-12-01T00%3A00:00Z&sig=abc%2B&X-Amz-Signature=d'
  const { address, credentials } = parse(signed)
  assert.equal(address, 'https://a.example.org/x.csv?sv=2024&se=2026-12-01T00%3A00:00Z')
  assert.equal(withSecretParameters(address, credentials), `${address}&sig=abc%2B&X-Amz-Signature=d`)
  const names = ['token', 'access_token', 'apiKey', 'api_key', 'key', 'authkey', 'subscription-key']
  for (const name of [...names, 'pass', 'user_pass', 'passphrase', 'auth', 'jwt']) {
    const only = parse(`https://a.example.org/x.csv?${name}=sesame`)
    assert.deepEqual(
      [only.address, only.credentials],
      ['https://a.example.org/x.csv', { parameters: `${name}=sesame` }],
    )
    assert.equal(
      withSecretParameters(only.address, only.credentials),
      `https://a.example.org/x.csv?${name}=sesame`,
    )
  }
  const wfs = 'https://a.example.org/wfs?service=WFS&typeNames=city:trees&sortBy=monkey&author=me&bypass=1'
  assert.deepEqual(parse(wfs), { kind: 'wfs', address: wfs, credentials: null })
  assert.throws(() => parse('s3://bucket'), /names no object/)
})

test('schedules are intervals or cron expressions in UTC, and retries never later than due', () => {
  const at = new Date('2026-03-01T10:00:00Z')
  assert.equal(nextRun('6h', at).toISOString(), '2026-03-01T16:00:00.000Z')
  assert.equal(nextRun('15 3 * * *', at).toISOString(), '2026-03-02T03:15:00.000Z')
  assert.equal(nextRun('0 0 * * 1', at).toISOString(), '2026-03-02T00:00:00.000Z')
  for (const schedule of ['30m', '1w', '*/5 * * * *']) requireSchedule(schedule, at)
  for (const schedule of ['4m', '0h', '99999w', '* * * * *', '* * * *', '0 0 31 2 *', ''])
    assert.throws(() => requireSchedule(schedule, at), schedule)
  // The pause of a minute is after the next run or before it, depending on the time.
  for (const minute of [0, 1, 2])
    assert.throws(() => requireSchedule('0,1 3 * * *', new Date(at.getTime() + 17 * HOUR + minute * MINUTE)))
  assert.equal(nextAttempt('10m', 5, at)?.toISOString(), '2026-03-01T10:10:00.000Z')
  assert.equal(nextAttempt('1w', 30, at)?.toISOString(), '2026-03-01T16:00:00.000Z')
  assert.equal(nextAttempt(null, 1, at), null)
})

test('a schedule in a time zone follows its clock', () => {
  const schedule = 'CRON_TZ=Europe/Vienna 30 2 * * *'
  const days = ['2026-01-10', '2026-07-10', '2026-03-29', '2026-10-25']
  const next = (day: string) => nextRun(schedule, new Date(`${day}T00:00:00+01:00`)).toISOString()
  requireSchedule(schedule, new Date())
  // Of the last two days one has no 2:30, and the other has two.
  assert.deepEqual(days.map(next), [
    '2026-01-10T01:30:00.000Z',
    '2026-07-10T00:30:00.000Z',
    '2026-03-29T01:00:00.000Z',
    '2026-10-25T00:30:00.000Z',
  ])
  assert.throws(() => nextRun('CRON_TZ=Europe/Nowhere 30 2 * * *', new Date()), /CRON_TZ=Europe\/Vienna/)
})

test('the command line sets, lists, runs and removes sources', async (t) => {
  const service = await openTestServer(t, { settings })
  const url = await serve(t, (_request, response) => response.end(points(4)))
  const run = (...args: string[]) => runCommand(service.config, 'source', ...args, '--json')
  const set = await run('set', 'places', `${url}/a.geojson`, '--id-column', 'number')
  assert.deepEqual([set.code, set.json.every, set.json.options], [0, null, { idColumn: 'number' }])
  const refused = await run('run', 'places')
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /inside the network of the service/)
  const listed = await run('list')
  assert.deepEqual([listed.json.data[0].table, listed.json.data[0].failures], ['places', 1])
  assert.equal((await run('remove', 'places')).code, 0)
  assert.equal((await run('remove', 'places')).code, 1)
})

test('only the webhooks of the publisher get an event when a source fails', async (t) => {
  const service = await openTestServer(t, { settings })
  const received: string[] = []
  const hook = (name: string) =>
    serve(t, (_request, response) => {
      received.push(name)
      response.end()
    })
  const owner = await openAccount(service, 'owner@example.org', { permissions: ['read', 'write'] })
  const other = await openAccount(service, 'other@example.org')
  for (const [name, { token }] of [['other', other] as const, ['owner', owner] as const]) {
    const body = { url: await hook(name), events: ['source.failed'] }
    assert.equal((await service.request('POST', '/v1/webhooks', { token, body })).status, 201)
  }
  await service.parts.organizationAdministration.setPublishing(operator, owner.organizationId, true)
  const url = await serve(t, (_request, response) => void response.writeHead(404).end())
  const { key } = owner
  const body = { address: `${url}/a.csv` }
  assert.equal((await service.request('PUT', '/v1/dataset/places/source', { key, body })).status, 200)
  await service.request('POST', '/v1/dataset/places/source/run', { key })
  await until('the webhook is told', () => received.length > 0)
  assert.deepEqual(received, ['owner'])
  const deliveries = await service.parts.database.db.selectFrom('webhook_deliveries').selectAll().execute()
  assert.equal(deliveries.length, 1)
})

test('an address is not read any more for an organization that may not publish, or that is closed', async (t) => {
  const service = await openTestServer(t, { settings })
  const { organizationAdministration: administration, sources, database } = service.parts
  const { key, organizationId } = await openAccount(service, 'owner@example.org', {
    permissions: ['read', 'write'],
  })
  await administration.setPublishing(operator, organizationId, true)
  let requests = 0
  const url = await serve(t, (_request, response) => {
    requests++
    response.end(points(3))
  })
  const body = { address: `${url}/a.geojson` }
  assert.equal((await service.request('PUT', '/v1/dataset/places/source', { key, body })).status, 200)
  const problemOfRun = async () => {
    const { id } = await sources.request('places', operator)
    await until('the run ends', async () => /done|failed/.test((await service.parts.jobs.find(id)).state))
    return (await sources.runs('places', 1))[0]!.problem
  }
  const refused = /not allowed to publish any more/
  await administration.suspend(operator, organizationId, 'a test')
  assert.match((await problemOfRun())!, refused)
  await administration.resume(operator, organizationId)
  await administration.setPublishing(operator, organizationId, false)
  assert.match((await problemOfRun())!, refused)
  await administration.setPublishing(operator, organizationId, true)
  // A job that waited while the organization was closed finds its source gone; one that had begun finds the row only.
  const closed_at = service.parts.clock().toISOString()
  await database.db.updateTable('organizations').set({ closed_at }).where('id', '=', organizationId).execute()
  assert.match((await problemOfRun())!, refused)
  assert.equal(requests, 0)
})
