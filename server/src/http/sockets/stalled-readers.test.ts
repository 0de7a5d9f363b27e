import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { cleanUp } from '../../testing/cleanup.ts'
import { type Patience, StalledReaders } from './stalled-readers.ts'

/** More than the operating system buffers for a client that reads nothing. */
const LARGE = Buffer.alloc(24 * 1024 ** 2, 'x')

async function open(t: TestContext, patience: Patience, answer: RequestListener) {
  const server = createServer(answer)
  let closed = 0
  const readers = new StalledReaders(server, patience, (count) => {
    closed += count
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanUp(t, () => {
    readers.stop()
    server.closeAllConnections()
    server.close()
  })
  const ask = (): Socket => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    return socket.pause()
  }
  return { server, ask, closed: () => closed }
}

/** Reads until the other side ends, and returns the number of bytes received. */
async function drain(socket: Socket): Promise<number> {
  let bytes = 0
  for await (const chunk of socket) bytes += (chunk as Buffer).length
  return bytes
}

test('a client that reads nothing is disconnected, also during one large write', async (t) => {
  const { server, ask, closed } = await open(t, { milliseconds: 200, maxBytes: 1e9 }, (_, response) =>
    response.end(LARGE),
  )
  const [reader, inside] = [ask(), await once(server, 'connection').then(([socket]) => socket as Socket)]
  await once(inside, 'close')
  assert.equal(closed(), 1)
  assert.ok((await drain(reader)) < LARGE.length)
})

test('a slow reader is served to the end, and a response may take long', async (t) => {
  const milliseconds = 800
  const { ask, closed } = await open(t, { milliseconds, maxBytes: 1e9 }, async (_, response) => {
    await sleep(2 * milliseconds)
    response.end(LARGE)
  })
  const reader = ask()
  let bytes = 0
  // The client pauses for a quarter of the timeout between reads, and takes many times the timeout in total.
  for await (const chunk of reader) {
    if (Math.floor((bytes + chunk.length) / 2 ** 21) > Math.floor(bytes / 2 ** 21))
      await sleep(milliseconds / 4)
    bytes += chunk.length
  }
  assert.ok(bytes > LARGE.length)
  assert.equal(closed(), 0)
})

test('a reader below the minimum rate is disconnected', async (t) => {
  const patience = { milliseconds: 800, maxBytes: 1e9, leastBytesASecond: 1e9 }
  const { ask, closed } = await open(t, patience, (_, response) => response.end(LARGE))
  let bytes = 0
  for await (const chunk of ask()) {
    bytes += chunk.length
    await sleep(20)
  }
  assert.equal(closed(), 1)
  assert.ok(bytes > 0 && bytes < LARGE.length)
})

test('stalled readers together hold no more memory than the limit', async (t) => {
  const patience = { milliseconds: 3_600_000, maxBytes: 1.5 * LARGE.length }
  const { server, ask, closed } = await open(t, patience, (_, response) => response.end(LARGE))
  const inside: Socket[] = []
  server.on('connection', (socket) => inside.push(socket))
  const readers = [ask(), ask(), ask()]
  while (closed() < 2) await sleep(20)
  const left = inside.filter((socket) => !socket.destroyed)
  assert.equal(left.length, 1)
  const received = await Promise.all(readers.map(drain))
  assert.equal(received.filter((bytes) => bytes > LARGE.length).length, 1, 'the one that stayed got all')
})
