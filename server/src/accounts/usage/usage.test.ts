import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { DAY, plus } from '../../base/clock.ts'
import { operator } from '../../base/events/events.ts'
import { newId } from '../../base/id.ts'
import { signIn } from '../../testing/sign-in.ts'
import { databaseKinds, openTestServer, testOnce } from '../../testing/test-server.ts'
import type { Grant } from '../access/grant.ts'
import { usageRange, usageReport } from './usage.ts'
import { addUsage } from './usage-store.ts'

const clock = () => new Date('2026-11-15T12:00:00Z')
const MAP = { name: 'Map', permissions: ['read'] }

test('a range is the last 30 days, or what was asked for: UTC, inclusive, at most 366 days', () => {
  assert.deepEqual(usageRange({}, clock), { startDate: '2026-10-17', endDate: '2026-11-15' })
  assert.deepEqual(usageRange({ endDate: '2026-01-31' }, clock), {
    startDate: '2026-01-02',
    endDate: '2026-01-31',
  })
  const leapYear = { startDate: '2028-01-01', endDate: '2028-12-31' }
  assert.deepEqual(usageRange(leapYear, clock), leapYear)
  assert.deepEqual(usageRange({ startDate: '2026-11-15', endDate: '2026-11-15T23:30:00-02:00' }, clock), {
    startDate: '2026-11-15',
    endDate: '2026-11-16',
  })
  for (const wrong of [
    { startDate: '2028-01-01', endDate: '2029-01-01' },
    { startDate: '2026-11-16', endDate: '2026-11-15' },
    { startDate: '2026-12-01' },
    { startDate: '2026-02-30', endDate: '2026-03-01' },
    { startDate: '01.02.2026' },
    { startDate: '2026-1-1' },
    { endDate: '' },
    { endDate: 'today' },
    { endDate: '0000-01-01' },
    { startDate: '2026-02-30T00:00:00Z', endDate: '2026-03-03' },
    { startDate: '9999-12-31', endDate: '9999-12-31T23:59:59-02:00' },
  ]) {
    assert.throws(() => usageRange(wrong, clock), { code: 'invalid-input' }, JSON.stringify(wrong))
  }
})

test('a report has a row for each day, and its parts add up to its totals', () => {
  const row = { key_id: 'k', organization_id: null, operation: 'items', table_name: 'a', format: 'geojson' }
  const report = usageReport({ startDate: '2026-02-27', endDate: '2026-03-02' }, [
    { ...row, date: '2026-02-28', calls: 3, credits: 0 },
    { ...row, date: '2026-03-02', calls: 4, credits: 0 },
    { ...row, date: '2026-03-02', operation: 'download', format: 'csv', calls: 2, credits: 10 },
    { ...row, date: '2026-03-02', operation: 'metadata', table_name: '', format: '', calls: 1, credits: 0 },
  ])
  assert.deepEqual(report, {
    startDate: '2026-02-27',
    endDate: '2026-03-02',
    totals: { calls: 10, credits: 10 },
    days: [
      { date: '2026-02-27', calls: 0, credits: 0 },
      { date: '2026-02-28', calls: 3, credits: 0 },
      { date: '2026-03-01', calls: 0, credits: 0 },
      { date: '2026-03-02', calls: 7, credits: 10 },
    ],
    operations: [
      { operation: 'items', table: 'a', format: 'geojson', calls: 7, credits: 0 },
      { operation: 'download', table: 'a', format: 'csv', calls: 2, credits: 10 },
      { operation: 'metadata', table: null, format: null, calls: 1, credits: 0 },
    ],
  })
})

for (const database of databaseKinds) {
  test(`a key's calls appear in its usage, in its organization's, and in lastUsedAt (${database})`, async (t) => {
    const service = await openTestServer(t, { database })
    const { token, organizationId } = await signIn(service, 'ada@example.org')
    const call = (method: string, path: string, body?: unknown) =>
      service.request(method, path, { token, body })
    const [one, two] = [
      (await call('POST', '/v1/api-keys/personal', MAP)).body,
      (await call('POST', `/v1/api-keys/organization/${organizationId}`, { ...MAP, name: 'Shared' })).body,
    ]
    for (const key of [one.secret, one.secret, one.secret, two.secret]) {
      assert.equal((await service.request('GET', '/v1/datasets', { key })).status, 200)
    }
    await service.parts.meter.flush()
    const today = new Date().toISOString().slice(0, 10)

    const { status, body: usage } = await call('GET', `/v1/api-keys/${one.id}/usage`)
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(usage), ['keyId', 'startDate', 'endDate', 'totals', 'days', 'operations'])
    assert.equal(usage.keyId, one.id)
    assert.deepEqual(usage.totals, { calls: 3, credits: 0 })
    assert.equal(usage.days.length, 30)
    assert.deepEqual(usage.days.at(-1), { date: today, calls: 3, credits: 0 })
    assert.deepEqual(usage.operations, [
      { operation: 'metadata', table: null, format: 'json', calls: 3, credits: 0 },
    ])

    assert.equal((await call('DELETE', `/v1/api-keys/${two.id}`)).status, 204)
    const whole = (await call('GET', `/v1/organization/${organizationId}/usage`)).body
    assert.deepEqual(Object.keys(whole), [
      'organizationId',
      'startDate',
      'endDate',
      'totals',
      'days',
      'operations',
      'keys',
      'members',
      'datasets',
    ])
    assert.deepEqual(whole.totals, { calls: 4, credits: 0 })
    assert.deepEqual(whole.keys, [
      { keyId: one.id, name: 'Map', isDeleted: false, calls: 3, credits: 0 },
      { keyId: two.id, name: 'Shared', isDeleted: true, calls: 1, credits: 0 },
    ])

    await service.parts.meter.close()
    const used = (await call('GET', `/v1/api-keys/${one.id}`)).body.lastUsedAt
    assert.ok(Math.abs(Date.parse(used) - Date.now()) < 60_000)
  })

  test(`usage counts the days asked for, by operation, key and dataset (${database})`, async (t) => {
    const service = await openTestServer(t, { database, clock })
    const { token, organizationId } = await signIn(service, 'ada@example.org')
    const { id } = (await service.request('POST', '/v1/api-keys/personal', { token, body: MAP })).body
    const row = (days: number, table: string, calls: number, credits: number) => ({
      key_id: id,
      organization_id: organizationId,
      date: plus(clock(), -days * DAY)
        .toISOString()
        .slice(0, 10),
      operation: credits > 0 ? 'download' : 'items',
      table_name: table,
      format: credits > 0 ? 'csv' : 'geojson',
      calls,
      credits,
    })
    await service.parts.database.db
      .transaction()
      .execute((tx) =>
        addUsage(tx, [
          row(0, 'parcels', 2, 20),
          row(1, 'parcels', 1, 10),
          row(1, 'roads', 5, 0),
          row(2, 'roads', 7, 0),
          row(40, 'roads', 100, 0),
        ]),
      )
    const read = async (path: string, query: string) =>
      (await service.request('GET', `${path}/usage${query}`, { token })).body
    const key = `/v1/api-keys/${id}`
    const organization = `/v1/organization/${organizationId}`
    assert.deepEqual((await read(key, '')).totals, { calls: 15, credits: 30 })
    const days = '?startDate=2026-11-14&endDate=2026-11-14'
    assert.deepEqual((await read(key, days)).days, [{ date: '2026-11-14', calls: 6, credits: 10 }])
    assert.deepEqual((await read(key, days)).operations, [
      { operation: 'items', table: 'roads', format: 'geojson', calls: 5, credits: 0 },
      { operation: 'download', table: 'parcels', format: 'csv', calls: 1, credits: 10 },
    ])
    assert.deepEqual((await read(organization, days)).datasets, [
      { table: 'roads', calls: 5, credits: 0 },
      { table: 'parcels', calls: 1, credits: 10 },
    ])
    const roads = await read(organization, `?table=roads&keyId=${id}`)
    assert.deepEqual([roads.totals, roads.datasets.length], [{ calls: 12, credits: 0 }, 1])
    assert.deepEqual((await read(organization, '?keyId=another')).totals, { calls: 0, credits: 0 })
    const file = `${organization}/usage.csv${days}`
    const csv = await service.request('GET', file, { token })
    assert.deepEqual(csv.text.split('\r\n').sort(), [
      '',
      `2026-11-14,${id},Map,,download,parcels,csv,1,10`,
      `2026-11-14,${id},Map,,items,roads,geojson,5,0`,
      'date,keyId,keyName,member,operation,table,format,calls,credits',
    ])
    const eve = await signIn(service, 'eve@example.org')
    assert.equal((await service.request('GET', file, { token: eve.token })).status, 403)
    for (const path of [key, organization]) {
      for (const [query, field] of [
        ['?startDate=2026-11-15&endDate=2026-11-14', 'startDate'],
        ['?startDate=2024-11-15&endDate=2026-11-14', 'startDate'],
        ['?startDate=yesterday', 'startDate'],
        ['?endDate=2026-13-01', 'endDate'],
        ['?from=2026-01-01', 'from'],
      ] as const) {
        const problem = await read(path, query)
        assert.equal(problem.status, 400, query)
        assert.equal(problem.errors[0].path, field)
      }
    }
  })

  testOnce(database, `an organization's usage needs BILLING_VIEW (${database})`, async (t) => {
    const service = await openTestServer(t, { database })
    const ada = await signIn(service, 'ada@example.org')
    await service.parts.members.add(operator, ada.organizationId, 'carl@example.org', ['APIKEY_VIEW'])
    const carl = await signIn(service, 'carl@example.org')
    const eve = await signIn(service, 'eve@example.org')
    const read = (id: string, token: string) =>
      service.request('GET', `/v1/organization/${id}/usage`, { token })
    assert.equal((await read(ada.organizationId, ada.token)).status, 200)
    for (const { token } of [carl, eve]) {
      const refused = await read(ada.organizationId, token)
      assert.equal(refused.status, 403)
      assert.match(refused.body.detail, /BILLING_VIEW/)
    }
    assert.equal((await read(newId('org'), ada.token)).status, 404)
    assert.equal((await read('%00', ada.token)).status, 404)
  })

  test(`calls are added up over batches, days and nodes, each once (${database})`, async (t) => {
    let now = new Date('2026-11-15T23:59:59.900Z')
    const service = await openTestServer(t, { database, clock: () => now })
    const { meter, database: control } = service.parts
    const grant = { keyId: newId('key'), secretHash: newId('key'), organizationId: null } as Grant
    const call = { operation: 'items', table: 'roads', format: 'geojson' }
    for (let i = 0; i < 1000; i++) meter.record(grant, call)
    await meter.flush()
    for (let i = 0; i < 500; i++) meter.record(grant, call)
    now = plus(now, 200)
    for (let i = 0; i < 7; i++) meter.record(grant, call)
    meter.record(grant, { ...call, table: 'rivers' })
    await Promise.all([meter.flush(), meter.flush()])
    const rows = await control.db
      .selectFrom('usage')
      .select(['date', 'table_name', 'calls'])
      .where('key_id', '=', grant.keyId)
      .orderBy('date')
      .orderBy('table_name')
      .execute()
    assert.deepEqual(rows, [
      { date: '2026-11-15', table_name: 'roads', calls: 1500 },
      { date: '2026-11-16', table_name: 'rivers', calls: 1 },
      { date: '2026-11-16', table_name: 'roads', calls: 7 },
    ])
  })

  test(`calls made while usage cannot be saved are kept in one batch, and none is lost (${database})`, async (t) => {
    const service = await openTestServer(t, { database })
    const { meter, database: control } = service.parts
    const grant = { keyId: newId('key'), secretHash: newId('key'), organizationId: null } as Grant
    const call = { operation: 'items', table: 'roads', format: 'geojson' }
    await sql`alter table usage_batches rename to away`.execute(control.db)
    for (let i = 0; i < 5; i++) {
      meter.record(grant, call)
      await assert.rejects(meter.flush())
    }
    await sql`alter table away rename to usage_batches`.execute(control.db)
    await meter.flush()
    const { calls } = await control.db
      .selectFrom('usage')
      .select('calls')
      .where('key_id', '=', grant.keyId)
      .executeTakeFirstOrThrow()
    assert.equal(calls, 5)
    assert.ok((await control.db.selectFrom('usage_batches').select('id').execute()).length <= 2)
  })
}
