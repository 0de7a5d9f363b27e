import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { openAccount } from '../../testing/account.ts'
import { cleanUp } from '../../testing/cleanup.ts'
import { points, publishText } from '../../testing/publish.ts'
import { emptyDatabase, openTestServer, postgresServer } from '../../testing/test-server.ts'
import { DatabaseError } from './database-error.ts'
import { openPostgres } from './open-postgres.ts'

/** Runs statements on the server of the tests, in any database. */
async function onServer(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

/** A database and a role of its own that may do everything in it. */
async function openPlace(t: TestContext) {
  const server = postgresServer()
  const role = `role_${randomBytes(6).toString('hex')}`
  await onServer(server, `create role ${role} login superuser password 'secret'`)
  // Cleaned up in reverse: the database with everything that the role owns goes first.
  cleanUp(t, () => onServer(server, `drop role ${role}`))
  const adminUrl = await emptyDatabase(t)
  const name = new URL(adminUrl).pathname.slice(1)
  const url = new URL(adminUrl)
  url.username = role
  url.password = 'secret'
  const cutOff = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and pid <> pg_backend_pid()`
  return { server, adminUrl, name, role, cutOff, databaseUrl: url.href }
}

test('a PostgreSQL that refuses for whatever reason is 503, and the node recovers without a restart', {
  skip: lacks('postgres'),
}, async (t) => {
  const { server, adminUrl, name, role, cutOff, databaseUrl } = await openPlace(t)
  const service = await openTestServer(t, { databaseUrl })
  await publishText(service, 'places', 'places.geojson', points(20))
  const { key } = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS', 'GIS_ACCESS'] })
  const items = () => service.request('GET', '/v1/ogc/collections/places/items', { key })
  const hide = 'alter schema public rename to hidden'
  const cases: { state: string; refuse: () => Promise<void>; recover: () => Promise<void> }[] = [
    {
      state: '55000: it accepts no connections',
      refuse: () => onServer(server, `alter database ${name} allow_connections false`, cutOff),
      recover: () => onServer(server, `alter database ${name} allow_connections true`),
    },
    {
      state: '3D000: the database is dropped',
      refuse: () =>
        onServer(
          server,
          `alter database ${name} allow_connections false`,
          cutOff,
          `alter database ${name} rename to ${name}_away`,
          `alter database ${name}_away allow_connections true`,
        ),
      recover: () => onServer(server, `alter database ${name}_away rename to ${name}`),
    },
    {
      state: '28000: the role may not sign in',
      refuse: () => onServer(server, `alter role ${role} nologin`, cutOff),
      recover: () => onServer(server, `alter role ${role} login`),
    },
    {
      state: '42P01: the tables are not loaded yet, and connections stay open',
      refuse: () => onServer(adminUrl, hide, 'create schema public'),
      recover: () => onServer(adminUrl, 'drop schema public', 'alter schema hidden rename to public'),
    },
    {
      state: '3F000: the schema is not there, and the connections are new',
      refuse: () => onServer(adminUrl, hide, cutOff),
      recover: () => onServer(adminUrl, 'alter schema hidden rename to public'),
    },
    {
      state: 'the tables are there without rows',
      refuse: () =>
        onServer(
          adminUrl,
          'create table public.kept as select * from public.change_number',
          'delete from public.change_number',
        ),
      recover: () =>
        onServer(
          adminUrl,
          'insert into public.change_number select * from public.kept',
          'drop table public.kept',
        ),
    },
  ]
  for (const { state, refuse, recover } of cases) {
    assert.equal((await items()).status, 200, state)
    await refuse()
    // What the node may trust its caches for is served first. No other status than these two appears.
    const seen = new Set<string>()
    for (let refusals = 0, round = 0; refusals < 20; round++) {
      assert.ok(round < 1000, `nothing is refused: ${state}`)
      const page = await items()
      const { status, body } = page
      seen.add(status === 200 ? '200' : `${status} ${body.code}`)
      if (status === 200) await sleep(20)
      else {
        refusals++
        assert.ok(Number(page.headers.get('retry-after')) > 0, state)
      }
      if (status === 500) break
    }
    const uncached = await service.request('GET', '/v1/dataset/other_table', { key })
    seen.add(`${uncached.status} ${uncached.body.code}`)
    seen.delete('200')
    await recover()
    assert.deepEqual([...seen], ['503 database-unavailable'], state)
    while ((await items()).status !== 200) await sleep(50)
  }
})

test('a new connection that is refused is an unavailable database', {
  skip: lacks('postgres'),
}, async (t) => {
  const { server, adminUrl, name, role, databaseUrl } = await openPlace(t)
  const failureOf = async (url: string) => {
    const database = openPostgres(url, { connections: 1, connectTimeout: 5000, queryTimeout: 5000 })
    return database.db
      .selectFrom('nodes')
      .select('id')
      .execute()
      .then(
        () => null,
        (error: unknown) =>
          error instanceof DatabaseError && `${error.failure} ${(error.cause as { code?: string }).code}`,
      )
      .finally(() => database.close())
  }
  assert.equal(await failureOf(databaseUrl), 'database-unavailable 42P01')
  assert.equal(await failureOf(databaseUrl.replace(name, 'not_there')), 'database-unavailable 3D000')
  await onServer(server, `alter role ${role} nologin`)
  assert.equal(await failureOf(databaseUrl), 'database-unavailable 28000')
  await onServer(server, `alter role ${role} login`, `alter database ${name} allow_connections false`)
  assert.equal(await failureOf(databaseUrl), 'database-unavailable 55000')
  await onServer(server, `alter role ${role} nosuperuser`, `alter database ${name} allow_connections true`)
  await onServer(adminUrl, 'create table nodes (id text)')
  assert.equal(await failureOf(databaseUrl), 'database-unavailable 42501')
})
