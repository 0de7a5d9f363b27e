import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { needs } from '../../../scripts/test-run/needs.ts'
import { ensurePrometheus } from '../../../scripts/test-servers/prometheus.ts'
import { cleanUp } from '../testing/cleanup.ts'
import { openTestServer, temporaryFolder } from '../testing/test-server.ts'

needs('tools')

const ops = fileURLToPath(new URL('../../../ops/', import.meta.url))

interface Panel {
  title: string
  targets?: { expr: string }[]
}

const { panels } = JSON.parse(readFileSync(join(ops, 'grafana', 'dashboard.json'), 'utf8')) as {
  panels: Panel[]
}
const queries = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })))

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  return port
}

test('the dashboard names only metrics that a server exposes, and shows all that matter', async (t) => {
  const service = await openTestServer(t)
  const { text } = await service.request('GET', '/metrics')
  const exposed = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!))
  const named = new Set(queries.flatMap(({ expr }) => expr.match(/\bwayleave_\w+/g) ?? []))
  assert.ok(named.size > 25)
  const base = (name: string) => name.replace(/_bucket$/, '')
  // Redis is only there if it is configured.
  for (const name of named) assert.ok(exposed.has(base(name)) || name === 'wayleave_redis_up', name)
})

test('a real Prometheus scrapes a server, evaluates the alerting rules, and the dashboard’s queries work', async (t) => {
  const service = await openTestServer(t)
  await service.request('GET', '/health')
  const folder = temporaryFolder(t)
  const configuration = {
    global: { scrape_interval: '500ms', evaluation_interval: '500ms' },
    rule_files: [join(ops, 'prometheus', 'alerts.yml')],
    scrape_configs: [{ job_name: 'wayleave', static_configs: [{ targets: [new URL(service.url).host] }] }],
  }
  // JSON is YAML.
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(configuration))
  const port = await freePort()
  const args = [
    `--config.file=${folder}/prometheus.yml`,
    `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--log.level=warn',
  ]
  const prometheus = spawn(ensurePrometheus(), args, { stdio: ['ignore', 'pipe', 'pipe'] })
  cleanUp(t, async () => {
    prometheus.kill('SIGKILL')
    if (prometheus.exitCode === null && prometheus.signalCode === null) await once(prometheus, 'exit')
  })
  let log = ''
  prometheus.stderr.on('data', (chunk) => {
    log += chunk
  })
  // biome-ignore lint/suspicious/noExplicitAny: documents of another program.
  const ask = async (path: string): Promise<any> => {
    assert.equal(prometheus.exitCode, null, log)
    const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`).catch(() => null)
    // While it starts, it responds 503 in plain text; a query that it cannot parse gets 400 in JSON.
    return response && response.status !== 503 ? await response.json() : null
  }
  const query = (expr: string) => ask(`/query?query=${encodeURIComponent(expr)}`)
  const isScraped = async () => (await query('up{job="wayleave"}'))?.data?.result?.[0]?.value?.[1] === '1'
  while (!(await isScraped())) await sleep(100)

  for (const { title, expr } of queries) {
    const text = expr.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '1m')
    const { status, error } = await query(text)
    assert.equal(status, 'success', `${title}: ${error}`)
  }
  for (const name of [
    'wayleave_queue_waiting',
    'wayleave_memory_cache_hits_total',
    'wayleave_event_loop_utilization',
  ])
    assert.ok((await query(name)).data.result.length > 0, name)

  const rules = async () =>
    (await ask('/rules')).data.groups.flatMap(({ rules }: { rules: object[] }) => rules)
  const alerts = [...readFileSync(join(ops, 'prometheus', 'alerts.yml'), 'utf8').matchAll(/- alert: (\w+)/g)]
  const states = async () => (await rules()).map(({ health }: { health: string }) => health)
  while ((await states()).includes('unknown')) await sleep(100)
  assert.deepEqual(await states(), Array(alerts.length).fill('ok'))
})
