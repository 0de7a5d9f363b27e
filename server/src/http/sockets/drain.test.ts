import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { cleanUp } from '../../testing/cleanup.ts'
import { openTestServer } from '../../testing/test-server.ts'

/** Opens a keep-alive connection, and sends requests on it one after the other. */
async function openConnection(t: TestContext, url: string) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  cleanUp(t, () => socket.destroy())
  await once(socket, 'connect')
  let received = ''
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text
  })
  socket.on('error', () => {})
  /** The response, or what was received of it if the connection was closed earlier. */
  const ask = async (request: string) => {
    received = ''
    socket.write(request)
    while (!/\r\n\r\n./s.test(received) && !socket.closed) await sleep(5)
    return received
  }
  return { socket, ask }
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`

test('while draining, requests are served, /ready is 503, and every response ends its connection', async (t) => {
  const { url, stop } = await openTestServer(t)
  const idle = await openConnection(t, url)
  const later = await openConnection(t, url)
  assert.match(await idle.ask(get('/ready')), /^HTTP\/1\.1 200 .*connection: keep-alive\r\n/is)
  assert.match(await later.ask(get('/health')), /^HTTP\/1\.1 200 /)

  // A request that began before the drain, with a response during it.
  const body = JSON.stringify({ email: 'ada@example.org' })
  const head = `POST /v1/auth/magic-link HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
  const slow = await openConnection(t, url)
  slow.socket.write(head + body.slice(0, 5))
  await sleep(100)

  const stopped = stop(60_000)
  await sleep(50)
  const begunBefore = await slow.ask(body.slice(5))
  assert.match(begunBefore, /^HTTP\/1\.1 202 .*connection: close\r\n/is)
  const ready = await idle.ask(get('/ready'))
  assert.match(ready, /^HTTP\/1\.1 503 .*connection: close\r\n/is)
  assert.match(ready, /"code":"shutting-down"/)
  // New connections are still accepted.
  const fresh = await openConnection(t, url)
  assert.match(await fresh.ask(get('/health')), /^HTTP\/1\.1 200 .*connection: close\r\n/is)
  for (const { socket } of [slow, idle, fresh]) if (!socket.closed) await once(socket, 'close')
  // A connection that was idle all the time is kept open until the drain ends.
  assert.ok(!later.socket.closed)
  stop()
  await once(later.socket, 'close')
  await stopped
  await assert.rejects(fetch(`${url}/health`))
})

test('requests that kept connections send at the moment of a stop are served', async (t) => {
  const { url, stop } = await openTestServer(t)
  const clients = await Promise.all(Array.from({ length: 100 }, () => openConnection(t, url)))
  for (const { ask } of clients) assert.match(await ask(get('/health')), /^HTTP\/1\.1 200 /)
  const stopped = stop(500)
  const responses = await Promise.all(clients.map(({ ask }) => ask(get('/health'))))
  for (const response of responses) assert.match(response, /^HTTP\/1\.1 200 .*connection: close\r\n/is)
  await stopped
})
