import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { openAccount } from '../../testing/account.ts'
import { cleanUp } from '../../testing/cleanup.ts'
import { startServerProcess } from '../../testing/processes/server-process.ts'
import { points, publishText } from '../../testing/publish.ts'
import { openTestServer, temporaryFolder } from '../../testing/test-server.ts'

needs('processes')

/** A low limit that still suffices: a server has some forty descriptors open when idle. */
const DESCRIPTORS = 160

/** At SIGUSR2 the server opens every free descriptor, and closes them at the next SIGUSR2. */
const HOARD = `
import { closeSync, openSync } from 'node:fs'
let taken = []
process.on('SIGUSR2', () => {
  if (taken.length > 0) for (const descriptor of taken.splice(0)) closeSync(descriptor)
  else try { for (;;) taken.push(openSync('/dev/null')) } catch {}
})
`

/** Starts a server process with a published dataset and few descriptors. */
async function startSmallServer(t: TestContext, environment: Record<string, string> = {}) {
  const dataDir = temporaryFolder(t)
  const first = await openTestServer(t, { dataDir })
  await publishText(first, 'places', 'places.geojson', points(100))
  const { key } = await openAccount(first, 'ada@example.org', { addOns: ['GIS_ACCESS'] })
  await first.stop()
  const server = await startServerProcess(t, dataDir, environment, { descriptors: DESCRIPTORS })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  cleanUp(t, () => agent.destroy())
  /** The status of a request on the one keep-alive connection. */
  const ask = (path: string) =>
    new Promise<number>((resolve, reject) =>
      get(`${server.url}${path}`, { agent, headers: { 'x-api-key': key } }, (response) => {
        response.resume().once('end', () => resolve(response.statusCode!))
      }).once('error', reject),
    )
  const askFilter = () => ask(`/v1/ogc/collections/places/items?filter=${encodeURIComponent('number<10')}`)
  return { ...server, ask, askFilter }
}

/** Idle connections, as many as the server keeps open. */
async function openIdle(t: TestContext, url: string, count: number): Promise<Socket[]> {
  const sockets: Socket[] = []
  cleanUp(t, () => sockets.forEach((socket) => void socket.destroy()))
  for (let i = 0; i < count; i++) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
    sockets.push(socket.resume())
    if (i % 20 === 19) await Promise.race([once(socket, 'connect'), once(socket, 'close')])
  }
  // The server closes what it cannot keep in its own time.
  const countClosed = () => sockets.filter(({ closed }) => closed).length
  for (let before = -1; countClosed() !== before; await sleep(300)) before = countClosed()
  return sockets
}

test('more connections than descriptors leave room for files, and the first filter works', async (t) => {
  const settings = { WAYLEAVE_MAX_CONNECTIONS: '100000', WAYLEAVE_MAX_CONNECTIONS_PER_ADDRESS: '100000' }
  const { url, child, ask, askFilter } = await startSmallServer(t, {
    ...settings,
    WAYLEAVE_LOG_LEVEL: 'error',
  })
  assert.equal(await ask('/health'), 200)
  const sockets = await openIdle(t, url, 3 * DESCRIPTORS)
  const open = sockets.filter((socket) => !socket.closed).length
  assert.ok(open > 10 && open < DESCRIPTORS / 2, `${open} of ${sockets.length} connections stand`)
  assert.equal(await askFilter(), 200)
  for (const socket of sockets) socket.destroy()
  const isReady = () =>
    fetch(`${url}/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  for (let i = 0; i < 100 && !(await isReady()); i++) await sleep(50)
  assert.equal((await fetch(`${url}/ready`)).status, 200)
  assert.equal(child.exitCode, null)
})

test('a process without a free descriptor survives a filter and new connections, and recovers', async (t) => {
  const preload = join(temporaryFolder(t), 'hoard.mjs')
  writeFileSync(preload, HOARD)
  const { url, child, ask, askFilter } = await startSmallServer(t, {
    NODE_OPTIONS: `--import=${preload}`,
    WAYLEAVE_LOG_LEVEL: 'silent',
  })
  // Opens the snapshot, so that the filter reaches DuckDB.
  assert.equal(await ask('/v1/ogc/collections/places/items'), 200)
  child.kill('SIGUSR2')
  await sleep(300)
  const status = await askFilter()
  assert.ok(status === 200 || status >= 500, String(status))
  await openIdle(t, url, 40)
  assert.equal(await ask('/health'), 200)
  child.kill('SIGUSR2')
  for (let i = 0; i < 100 && (await askFilter()) !== 200; i++) await sleep(50)
  assert.equal(await askFilter(), 200)
  assert.equal((await fetch(`${url}/ready`)).status, 200)
  assert.deepEqual([child.exitCode, child.signalCode], [null, null])
})
