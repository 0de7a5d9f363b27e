import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { needs } from '../../../scripts/test-run/needs.ts'
import { openAccount } from '../testing/account.ts'
import { cleanUp } from '../testing/cleanup.ts'
import { type ServerProcess, startServerProcess } from '../testing/processes/server-process.ts'
import { points, publishText } from '../testing/publish.ts'
import { openTestServer, temporaryDatabase, temporaryFolder } from '../testing/test-server.ts'

needs('postgres', 'processes')

const CLIENTS = 24
const RESTARTS = 2
const HEALTH_CHECK_MS = 100

/** A node behind the load balancer. */
interface Node {
  process: ServerProcess
  isReady: boolean
}

test('clients that keep connections lose no request when nodes are restarted one after the other', async (t) => {
  const dataDir = temporaryFolder(t)
  const databaseUrl = await temporaryDatabase(t)
  const first = await openTestServer(t, { dataDir, databaseUrl })
  await publishText(first, 'places', 'places.geojson', points(200))
  const { key } = await openAccount(first, 'ada@example.org', { addOns: ['GIS_ACCESS'] })
  await first.stop()

  const start = () =>
    startServerProcess(t, dataDir, { WAYLEAVE_DATABASE_URL: databaseUrl, WAYLEAVE_DRAIN_SECONDS: '1' })
  const nodes: Node[] = []
  for (let i = 0; i < 2; i++) nodes.push({ process: await start(), isReady: true })
  const agent = new Agent({ keepAlive: true })
  cleanUp(t, () => agent.destroy())
  const ask = (node: Node, path: string) =>
    new Promise<number>((resolve, reject) => {
      const headers = { 'x-api-key': key }
      get(node.process.url + path, { agent, headers }, (response) => {
        response.resume().once('end', () => resolve(response.statusCode!))
        response.once('error', reject)
      }).once('error', reject)
    })

  let isOver = false
  // Also if an assertion fails: the loops below would run for ever.
  cleanUp(t, () => {
    isOver = true
  })
  let count = 0
  const failures: string[] = []
  const checkHealth = async (node: Node) => {
    while (!isOver) {
      const { process } = node
      const isReady = await fetch(`${process.url}/ready`).then(
        ({ status }) => status === 200,
        () => false,
      )
      if (process === node.process) node.isReady = isReady
      await sleep(HEALTH_CHECK_MS)
    }
  }
  const runClient = async (client: number) => {
    for (let i = 0; !isOver; i++) {
      const ready = nodes.filter((node) => node.isReady)
      if (ready.length === 0) {
        // On a busy machine a lease may lapse for a moment.
        await sleep(HEALTH_CHECK_MS)
        continue
      }
      const node = ready[(client + i) % ready.length]!
      // Exercise both ways to send a page: from memory, and through Fastify.
      const path = `/v1/ogc/collections/places/items?limit=${i % 2 ? 10 : '10&sortby=number'}`
      count++
      await ask(node, path).then(
        (status) => status === 200 || failures.push(`${path}: ${status}`),
        // Nothing was sent, so a load balancer would retry on the other node.
        (error: NodeJS.ErrnoException) =>
          error.code === 'ECONNREFUSED' || failures.push(`${path}: ${error.message}`),
      )
      // Some clients are always busy; the connections of others are idle for a while.
      if (client % 3 === 0) await sleep(Math.random() * 300)
    }
  }
  const load = [...nodes.map(checkHealth), ...Array.from({ length: CLIENTS }, (_, i) => runClient(i))]
  for (let i = 0; i < RESTARTS; i++) {
    await sleep(500)
    const node = nodes[i % 2]!
    const exit = once(node.process.child, 'exit')
    node.process.child.kill('SIGTERM')
    assert.deepEqual(await exit, [0, null])
    node.isReady = false
    node.process = await start()
    while (!node.isReady) await sleep(20)
  }
  isOver = true
  await Promise.all(load)
  t.diagnostic(`${count} requests over ${RESTARTS} restarts, ${failures.length} failed`)
  assert.deepEqual(failures, [])
})
