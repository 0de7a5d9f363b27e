import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { firstThread } from '../../base/threads/thread-place.ts'
import { cleanUp } from '../../testing/cleanup.ts'
import { openTestServer } from '../../testing/test-server.ts'
import { maxConnections } from './connection-limits.ts'
import { connectionsWithin, descriptorLimit } from './descriptor-limit.ts'
import { SharedConnections } from './shared-connections.ts'

const unset = { maxConnections: null, maxConnectionsPerAddress: null }

/** Opens a connection from a loopback address, and reads the start of what the server sends unasked. */
async function openConnection(t: TestContext, url: string, localAddress = '127.0.0.1') {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress })
  cleanUp(t, () => socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/** The status of a response on the connection, or null if it was closed. */
async function ask(socket: Socket): Promise<number | null> {
  socket.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n')
  const data = await Promise.race([
    once(socket, 'data').then(([bytes]: Buffer[]) => bytes!.toString()),
    once(socket, 'close').then(() => null),
  ])
  return data === null ? null : Number(data.slice(9, 12))
}

test('the limit of open files bounds the connections and leaves room for files', () => {
  assert.ok(descriptorLimit()! > 0)
  assert.equal(descriptorLimit('/nowhere'), null)
  for (const descriptors of [16, 64, 256, 1024, 4096, 65_536]) {
    const { total, perAddress } = maxConnections({ ...unset, maxConnections: 1_000_000 }, descriptors)
    assert.equal(total, connectionsWithin(descriptors))
    assert.ok(2 * total <= descriptors - Math.min(256, descriptors / 2), `${total} of ${descriptors}`)
    assert.ok(perAddress >= 1 && perAddress <= total / 2)
  }
  assert.deepEqual(maxConnections(unset, 1_048_576), { total: 10_000, perAddress: 2500 })
  assert.deepEqual(maxConnections(unset, null), { total: 10_000, perAddress: 2500 })
  const few = { maxConnections: 10, maxConnectionsPerAddress: 50 }
  assert.deepEqual(maxConnections(few, 1024), { total: 10, perAddress: 10 })
})

test('the connections of all threads count, until a thread has died', () => {
  const first = firstThread(2)!
  const second = { ...first, number: 2 }
  const [one, two] = [new SharedConnections(first), new SharedConnections(second)]
  one.add('192.0.2.1', 1)
  two.add('192.0.2.1', 1)
  two.add('192.0.2.1', 1)
  two.add(null, 1)
  assert.deepEqual([one.of('192.0.2.1'), one.of('192.0.2.2'), one.total()], [3, 0, 4])
  two.add('192.0.2.1', -1)
  assert.deepEqual([one.of('192.0.2.1'), one.total()], [2, 3])
  SharedConnections.forget(second)
  assert.deepEqual([one.of('192.0.2.1'), one.total()], [1, 1])
  new SharedConnections(second).add('192.0.2.1', 1)
  assert.deepEqual([one.of('192.0.2.1'), one.total()], [2, 2])
})

test('one address has a limit of its own, and a connection that it closes makes room', async (t) => {
  const { url, logLines } = await openTestServer(t, { settings: { maxConnectionsPerAddress: 3 } })
  const open: Socket[] = []
  for (let i = 0; i < 3; i++) open.push(await openConnection(t, url))
  for (const socket of open) assert.equal(await ask(socket), 200)
  const refused = await openConnection(t, url)
  const [message] = (await once(refused, 'data')) as Buffer[]
  assert.match(message!.toString(), /^HTTP\/1\.1 503 .*\r\nretry-after: 10\r\n/s)
  await once(refused, 'close')
  assert.equal(await ask(await openConnection(t, url, '127.0.0.2')), 200)
  open[0]!.destroy()
  await sleep(50)
  assert.equal(await ask(await openConnection(t, url)), 200)
  assert.equal(logLines.filter((line) => line.includes('Too many connections')).length, 1)
})

test('a trusted proxy may open as many connections as there are in total', async (t) => {
  const settings = { maxConnections: 5, maxConnectionsPerAddress: 1, trustedProxies: ['127.0.0.0/8'] }
  const { url } = await openTestServer(t, { settings })
  const open: Socket[] = []
  for (let i = 0; i < 5; i++) open.push(await openConnection(t, url))
  for (const socket of open) assert.equal(await ask(socket), 200)
  assert.equal(await ask(await openConnection(t, url)), null)
  open[0]!.destroy()
  await sleep(50)
  assert.equal(await ask(await openConnection(t, url)), 200)
})
