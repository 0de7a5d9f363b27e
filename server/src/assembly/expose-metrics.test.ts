import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { exportFormatsOf } from '@wayleave/geodata/exports'
import { needs } from '../../../scripts/test-run/needs.ts'
import { ensurePromtool } from '../../../scripts/test-servers/prometheus.ts'
import { operator } from '../base/events/events.ts'
import { metricTable } from '../http/observability/metric-table.ts'
import { openAccount } from '../testing/account.ts'
import { newBucketSettings } from '../testing/bucket.ts'
import { cleanUp } from '../testing/cleanup.ts'
import { points } from '../testing/publish.ts'
import { openRedisProxy } from '../testing/redis.ts'
import { openTestServer, type TestServer } from '../testing/test-server.ts'

needs('s3', 'redis', 'tools')

const root = new URL('../../../', import.meta.url)
const rulesFolder = fileURLToPath(new URL('ops/prometheus/', root))
const rules = readFileSync(`${rulesFolder}alerts.yml`, 'utf8')

/** The values that the service exposes, by name and labels. */
async function readMetrics(service: TestServer): Promise<Map<string, number>> {
  const { text } = await service.request('GET', '/metrics')
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  )
}

test('a server exposes every metric of the table and every one that an alerting rule names', async (t) => {
  const redis = await openRedisProxy(t)
  const service = await openTestServer(t, { settings: { redisUrl: redis.url, ...newBucketSettings() } })
  await service.request('GET', '/nowhere')
  const { text } = await service.request('GET', '/metrics')
  const exposed = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!))
  const named = new Set([...rules.matchAll(/\bwayleave_[a-z0-9_]+/g)].map(([name]) => name))
  assert.ok(named.size > 15)
  for (const name of [...Object.keys(metricTable), ...named]) assert.ok(exposed.has(name), name)
  // Every metric of the table has a value, or values by label; only the one for damage may have none.
  for (const [name, { type }] of Object.entries(metricTable)) {
    if (name === 'wayleave_damaged_versions') continue
    const value = type === 'histogram' ? `${name}_count` : name
    assert.match(text, new RegExp(`^${value}(\\{[^}]+\\})? [0-9.e+]+$`, 'm'))
  }
})

test('the documentation lists the metrics of the table with their meaning', () => {
  const text = readFileSync(new URL('docs/operating.md', root), 'utf8')
  const listed = [...text.matchAll(/^\| `(wayleave_\w+)` \| (\w+) \| (.+) \|$/gm)]
    .map(([, name, type, help]) => `${name} ${type} ${help}`)
    .filter((row) => !row.startsWith('wayleave_http_'))
  assert.deepEqual(
    listed,
    Object.entries(metricTable).map(([name, { type, help }]) => `${name} ${type} ${help}`),
  )
})

test('Prometheus accepts the alerting rules, and their unit tests pass', () => {
  const promtool = process.env['WAYLEAVE_TEST_PROMTOOL'] || ensurePromtool()
  for (const command of [
    ['check', 'rules', 'alerts.yml'],
    ['test', 'rules', 'alerts.test.yml'],
  ]) {
    const { status, stdout, stderr } = spawnSync(promtool, command, { cwd: rulesFolder, encoding: 'utf8' })
    assert.equal(status, 0, stdout + stderr)
  }
})

test('each alert has a unit test', () => {
  const tests = readFileSync(`${rulesFolder}alerts.test.yml`, 'utf8')
  const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name!)
  assert.ok(alerts.length > 15)
  for (const alert of alerts) assert.ok(tests.includes(`alertname="${alert}"`), alert)
})

test('metrics follow what happens: jobs, builds, usage and overload', async (t) => {
  const service = await openTestServer(t)
  const { jobs, meter, exports, catalog, tileBuilds } = service.parts
  for (const [file, text] of [
    ['places.geojson', points(100)],
    ['broken.geojson', '{'],
  ] as const) {
    const id = jobs.newId()
    writeFileSync(await jobs.uploadPath(id), text)
    const publish = { table: 'places', file, description: {} }
    await jobs.start(id, { publish, origin: operator, uploadBytes: text.length })
    while (!['done', 'failed'].includes((await jobs.find(id)).state)) await sleep(20)
  }
  const dataset = await catalog.find('places')
  const csv = exportFormatsOf(dataset.manifest).find(({ format }) => format === 'csv')
  await exports.get({ dataset, version: dataset, format: csv!, encoding: 'identity' })
  await tileBuilds.build(dataset)
  meter.record({ ...GRANT, keyId: 'key', organizationId: null, payer: 'key' }, CALL)
  assert.equal(meter.unsavedRows, 1)
  assert.ok(meter.unsavedSeconds >= 0)
  await meter.flush()
  t.mock.method(service.parts.overload, 'isOverloaded', () => true)
  assert.equal((await service.request('GET', '/v1/datasets')).status, 503)
  t.mock.restoreAll()
  const { key } = await openAccount(service, 'ada@example.org', { addOns: ['GIS_ACCESS'] })
  const patterns = Array.from({ length: 300 }, (_, i) => `name LIKE 'a${i}%'`)
  const costly = `filter=${encodeURIComponent(patterns.join(' OR '))}`
  assert.equal(
    (await service.request('GET', `/v1/ogc/collections/places/items?${costly}`, { key })).status,
    400,
  )
  const values = await readMetrics(service)
  assert.equal(values.get('wayleave_jobs_finished_total{state="done"}'), 1)
  assert.equal(values.get('wayleave_jobs_finished_total{state="failed"}'), 1)
  for (const kind of ['publish', 'export', 'tiles']) {
    assert.equal(values.get(`wayleave_jobs{kind="${kind}",state="running"}`), 0)
    assert.equal(values.get(`wayleave_jobs{kind="${kind}",state="waiting"}`), 0)
    assert.equal(values.get(`wayleave_job_oldest_waiting_seconds{kind="${kind}"}`), 0)
  }
  assert.equal(values.get('wayleave_job_leases_lost_total'), 0)
  assert.equal(values.get('wayleave_job_duration_seconds_count'), 2)
  assert.equal(values.get('wayleave_export_builds_waiting'), 0)
  assert.equal(values.get('wayleave_export_build_duration_seconds_count'), 1)
  assert.equal(values.get('wayleave_tile_builds_waiting'), 0)
  assert.equal(values.get('wayleave_tile_builds_finished_total{state="done"}'), 1)
  assert.equal(values.get('wayleave_tile_builds_finished_total{state="failed"}'), 0)
  assert.equal(values.get('wayleave_tile_build_duration_seconds_count'), 1)
  assert.equal(values.get('wayleave_usage_unsaved_rows'), 0)
  assert.equal(values.get('wayleave_usage_unsaved_seconds'), 0)
  assert.equal(values.get('wayleave_overload_refusals_total'), 1)
  assert.equal(values.get('wayleave_refusals_total{code="overloaded",limit="event-loop"}'), 1)
  assert.equal(values.get('wayleave_refusals_total{code="invalid-filter",limit="filter-cost"}'), 1)
  assert.equal(values.get('wayleave_pages_shortened_total{limit="bytes"}'), 0)
  assert.equal(values.get('wayleave_stalled_readers_total'), 0)
})

test('metrics follow what happens: Redis, connections, mails and refunds', async (t) => {
  const redis = await openRedisProxy(t)
  const service = await openTestServer(t, { settings: { redisUrl: redis.url, maxConnectionsPerAddress: 20 } })
  const { key, keyId, organizationId } = await openAccount(service, 'ada@example.org', { credits: 3 })
  await service.request('GET', '/v1/datasets', { key })
  const before = await readMetrics(service)
  assert.equal(before.get('wayleave_lease_held'), 1)
  assert.equal(before.get('wayleave_redis_up'), 1)
  assert.equal(before.get('wayleave_mails_total{result="sent"}'), 1)
  assert.equal(before.get('wayleave_refunds_total{result="written"}'), 0)
  assert.ok(before.get('wayleave_data_disk_free_bytes')! > 0)
  assert.ok(before.get('wayleave_data_disk_free_bytes')! <= before.get('wayleave_data_disk_size_bytes')!)
  assert.ok(before.get('wayleave_connections_open')! >= 1)

  await redis.cut()
  for (let i = 0; i < 30; i++) {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1').on('error', () => {})
    cleanUp(t, () => socket.destroy())
  }
  const grant = { ...GRANT, keyId, organizationId, payer: keyId }
  const charge = await service.parts.cashier.charge({ grant, call: CALL, version: 1, price: 1 })
  await charge.refund()
  // The server accepts connections and notices the outage in its own time.
  let after = await readMetrics(service)
  const isSettled = () =>
    after.get('wayleave_redis_up') === 0 &&
    after.get('wayleave_connections_refused_total{reason="address"}')! >= 10
  for (let i = 0; i < 300 && !isSettled(); i++) {
    await sleep(20)
    after = await readMetrics(service)
  }
  assert.equal(after.get('wayleave_redis_up'), 0)
  assert.equal(after.get('wayleave_redis_outages_total'), 1)
  assert.equal(after.get('wayleave_refunds_total{result="written"}'), 1)
  assert.equal(after.get('wayleave_connections_open'), 20)
  assert.ok(after.get('wayleave_connections_refused_total{reason="address"}')! >= 10)
})

const CALL = { operation: 'download', table: 'places', format: 'kml' }
const GRANT = {
  scope: 'organization' as const,
  kind: 'key' as const,
  userId: null,
  permissions: new Set(['read']),
  isTest: false,
  addOns: new Set(['API_ACCESS']),
  datasetGrants: new Map(),
  seesHidden: false,
  publishes: false,
  expiresAt: null,
  allowedCallers: null,
  creditLimit: null,
    memberCreditLimit: null,
    dailyFeatures: null,
  secretHash: '',
  owner: 'organization:org',
  ownerBucket: null,
  bucket: { name: 'key', rate: { requests: 1, burst: 1 } },
}
