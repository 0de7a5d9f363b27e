import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { startRedis } from '../../../../scripts/test-servers/redis.ts'
import { cleanUp } from '../../testing/cleanup.ts'
import { startServerProcess } from '../../testing/processes/server-process.ts'
import { ownRedis } from '../../testing/redis.ts'
import { temporaryFolder } from '../../testing/test-server.ts'

needs('redis', 'processes')

const CONNECTIONS = 1500
const REQUESTS = 4
const LIMIT = 60

test('1,500 connections at once get no more than the limit through, with Redis up and with Redis paused', async (t) => {
  const redis = ownRedis(t, await startRedis())
  const server = await startServerProcess(t, temporaryFolder(t), {
    WAYLEAVE_REDIS_URL: redis.url,
    WAYLEAVE_ADDRESS_RATE: String(LIMIT),
    WAYLEAVE_MAX_CONNECTIONS_PER_ADDRESS: '5000',
    // No other limit may reject requests.
    WAYLEAVE_MAX_EVENT_LOOP_DELAY: '60000',
    WAYLEAVE_LOG_LEVEL: 'error',
  })
  const { port } = new URL(server.url)
  const sockets: Socket[] = []
  cleanUp(t, () => sockets.forEach((socket) => void socket.destroy()))
  for (let i = 0; i < CONNECTIONS; i++) {
    const socket = connect(Number(port), '127.0.0.1')
    sockets.push(socket)
    if (i % 100 === 99) await once(socket, 'connect')
  }
  const began = performance.now()
  let passed = await countPassed(sockets)
  redis.pause()
  passed += await countPassed(sockets)
  redis.resume()
  passed += await countPassed(sockets)
  const seconds = (performance.now() - began) / 1000
  t.diagnostic(`${passed} of ${3 * CONNECTIONS * REQUESTS} requests passed in ${seconds.toFixed(1)} s`)
  assert.ok(passed >= LIMIT, `${passed} passed`)
  assert.ok(passed <= LIMIT + Math.ceil((seconds * LIMIT) / 60), `${passed} passed in ${seconds} s`)
})

/** Sends requests on all connections at once and counts the responses other than 429. */
async function countPassed(sockets: Socket[]): Promise<number> {
  const request = 'GET /v1/datasets HTTP/1.1\r\nHost: localhost\r\n\r\n'
  let passed = 0
  const finished = sockets.map(
    (socket) =>
      new Promise<void>((resolve, reject) => {
        let text = ''
        const read = (data: Buffer) => {
          text += data.toString('latin1')
          const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status)
          if (statuses.length < REQUESTS) return
          socket.off('data', read)
          passed += statuses.filter((status) => status !== '429').length
          resolve()
        }
        socket.on('data', read)
        socket.once('error', reject)
      }),
  )
  for (const socket of sockets) socket.write(request.repeat(REQUESTS))
  await Promise.all(finished)
  return passed
}
