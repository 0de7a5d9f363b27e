import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import fastify from 'fastify'
import { cleanUp } from '../../testing/cleanup.ts'
import type { App } from '../fastify-app.ts'
import { addBodyDeadline } from './body-deadline.ts'

/** In milliseconds. Long enough that a stall of a busy machine does not look like a client that stopped. */
const DEADLINE = 400
const HEAD =
  'PUT /files HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/octet-stream\r\nContent-Length: 10\r\n\r\n'

test('a file whose bytes stop coming is cut off, and one that comes slowly is taken', {
  timeout: 120_000,
}, async (t) => {
  const app = fastify() as unknown as App
  addBodyDeadline(app, 1000, DEADLINE)
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
  app.put('/files', {
    bodyLimit: 2 ** 30,
    handler: async ({ body }) => ({ bytes: Buffer.concat(await (body as Readable).toArray()).length }),
  })
  app.put('/refused', {
    bodyLimit: 2 ** 30,
    onRequest: async (_request, reply) => reply.code(403).send(),
    handler: () => {},
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  cleanUp(t, () => {
    app.server.closeAllConnections()
    return app.close()
  })
  const { port } = app.server.address() as AddressInfo

  const send = async (pause: number) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    let received = ''
    socket.on('data', (data: Buffer) => {
      received += data
    })
    socket.write(HEAD)
    const closed = closeOf(socket)
    for (let i = 0; i < 10 && !socket.destroyed; i++) {
      socket.write('x')
      await Promise.race([sleep(pause, undefined, { ref: false }), closed])
    }
    await closed
    return received.slice(9, 12)
  }
  assert.equal(await send(DEADLINE / 2), '200')
  assert.equal(await send(100 * DEADLINE), '')

  // Rejected at once, while the bytes keep arriving, one at a time.
  const refused = connect(port, '127.0.0.1').on('error', () => {})
  refused.write(
    HEAD.replace('/files', '/refused').replace('10', '100000').replace('Connection: close\r\n', ''),
  )
  const [answer] = (await once(refused, 'data')) as [Buffer]
  assert.match(answer.toString(), / 403 /)
  const drip = setInterval(() => refused.write('x'), DEADLINE / 10)
  cleanUp(t, () => clearInterval(drip))
  await closeOf(refused)
})

/** Unlike `once`, this does not fail when the server resets the connection while a byte is on its way. */
function closeOf(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()))
}
