import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { cleanUp } from '../../testing/cleanup.ts'
import { openTestServer } from '../../testing/test-server.ts'
import { respondInTurn } from './respond-in-turn.ts'

const request = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`

async function open(t: TestContext, answer: RequestListener) {
  const server = createServer(answer)
  respondInTurn(server, () => ({ address: '', credentials: '' }))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanUp(t, () => {
    server.closeAllConnections()
    server.close()
  })
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
  cleanUp(t, () => socket.destroy())
  return { server, socket }
}

test('pipelined requests are handled one at a time, and responses keep their order', async (t) => {
  let now = 0
  let maxRunning = 0
  const { socket } = await open(t, async ({ url }, response) => {
    maxRunning = Math.max(maxRunning, ++now)
    await sleep(url!.length % 3)
    now--
    response.end(`[${url}]`)
  })
  const paths = Array.from({ length: 50 }, (_, i) => `/${i}`)
  socket.write(paths.map((path) => request(path)).join('') + request('/last', 'Connection: close\r\n'))
  const text = Buffer.concat(await socket.toArray()).toString()
  assert.deepEqual(text.match(/(?<=\[)\/\w+(?=\])/g), [...paths, '/last'])
  assert.equal(maxRunning, 1)
})

test('a client that reads nothing gets one response built, however many it requests', async (t) => {
  let made = 0
  const page = Buffer.alloc(16 * 1024 ** 2)
  const { socket } = await open(t, (_, response) => {
    made++
    response.end(page)
  })
  socket.pause().write(request('/').repeat(100))
  while (made === 0) await sleep(10)
  await sleep(300)
  assert.equal(made, 1)
})

test('a client that pipelines too many requests is disconnected', { timeout: 120_000 }, async (t) => {
  const { socket } = await open(t, () => {})
  socket.write(request('/').repeat(1000))
  await once(socket.resume(), 'close')
})

test('the whole service responds to pipelined requests in order', async (t) => {
  const service = await openTestServer(t)
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
  const paths = ['/v1/datasets', '/health', '/v1/nowhere']
  socket.write(paths.map((path) => request(path)).join('') + request('/docs', 'Connection: close\r\n'))
  const text = Buffer.concat(await socket.toArray()).toString()
  assert.deepEqual(text.match(/(?<=HTTP\/1.1 )\d+/g), ['200', '200', '404', '200'])
  assert.match(text, /"data":\[\].*"status":"ok".*not-found.*<!doctype html>/s)
})
