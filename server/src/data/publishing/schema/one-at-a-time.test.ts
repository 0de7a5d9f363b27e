import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, IncomingMessage, ServerResponse } from 'node:http'
import { type AddressInfo, connect, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { operator } from '../../../base/events/events.ts'
import { cleanUp } from '../../../testing/cleanup.ts'
import { publishText } from '../../../testing/publish.ts'
import { signIn } from '../../../testing/sign-in.ts'
import { openTestServer } from '../../../testing/test-server.ts'
import { OneAtATime } from './one-at-a-time.ts'

const BODY = JSON.stringify({ columns: [{ name: 'a', type: 'integer' }] })

test('a key has one schema read at a time, and keys do not wait for one another', async (t) => {
  const service = await openTestServer(t)
  const { organizationId, token } = await signIn(service, 'ada@example.org')
  await service.parts.organizationAdministration.setPublishing(operator, organizationId, true)
  await publishText(service, 'numbers', 'a.csv', 'a\n1\n', { ownerId: organizationId })
  const { port } = new URL(service.url)
  const path = `/v1/api-keys/organization/${organizationId}`
  const [slow, other] = await Promise.all(
    ['slow', 'other'].map(async (name) => {
      const body = { name, permissions: ['read', 'write'] }
      return (await service.request('POST', path, { token, body })).body.secret as string
    }),
  )
  const send = async (key: string, text: string) => {
    const socket = connect(Number(port), '127.0.0.1').on('error', () => {})
    cleanUp(t, () => socket.destroy())
    await once(socket, 'connect')
    socket.write(
      `PUT /v1/dataset/numbers/schema HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${text}`,
    )
    const status = once(socket, 'data').then(([data]) => String(data).slice(9, 12))
    return { socket, status }
  }
  const first = await send(slow!, BODY.slice(0, 5))
  // Its head has arrived: what the same client sends next is read after it.
  assert.equal(await (await send(other!, BODY)).status, '204')
  const second = await send(slow!, BODY)
  const third = await send(slow!, BODY)
  assert.equal(await (await send(other!, BODY)).status, '204')
  assert.equal(await Promise.race([second.status, 'waits']), 'waits')
  // One that leaves while it waits does not stop those behind it.
  second.socket.destroy()
  first.socket.destroy()
  assert.equal(await third.status, '204')
})

test('a body that does not arrive whole stops those behind it for a while only', async (t) => {
  const schemas = new OneAtATime(50)
  const server = createServer(async (request, response) => {
    await schemas.begin('key:1', request, response)
    response.end(await text(request).catch(() => ''))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const send = async (body: string) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    cleanUp(t, () => socket.destroy())
    await once(socket, 'connect')
    socket.write(`PUT / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4\r\n\r\n${body}`)
    return socket
  }
  cleanUp(t, () => server.close())
  const [late] = await Promise.all([send('a'), once(server, 'request')])
  const whole = await send('abcd')
  assert.match(String(await once(whole, 'data')), /^HTTP\/1.1 200/)
  if (!late.closed) await once(late, 'close')
})

/** Begins a request on a socket of its own; `onTurn` is called in its turn. */
function beginRequest(schemas: OneAtATime, onTurn: (response: ServerResponse) => unknown): Socket {
  const socket = new Socket()
  const request = new IncomingMessage(socket)
  const response = new ServerResponse(request)
  response.assignSocket(socket)
  void schemas.begin('key:1', request, response).then(() => onTurn(response))
  return socket
}

test('requests whose clients left while they waited are not begun, however many there are', async () => {
  const schemas = new OneAtATime()
  let begun = 0
  const begin = () => beginRequest(schemas, () => begun++)
  const first = begin()
  for (let i = 0; i < 12_000; i++) begin().destroy()
  await turn()
  first.destroy()
  await turn()
  const last = begin()
  await turn()
  assert.equal(begun, 2)
  last.destroy()
})

test('the next request begins when the work for a client that left is done, also if it fails', async () => {
  const schemas = new OneAtATime()
  const works = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let begun = 0
  const begin = () =>
    beginRequest(schemas, (response) => schemas.work(response, () => works[begun++]!.promise).catch(() => {}))
  const first = begin()
  await turn()
  const second = begin()
  first.destroy()
  await turn()
  assert.equal(begun, 1)
  works[0]!.reject(new Error('the thread ended'))
  await turn()
  assert.equal(begun, 2)
  second.destroy()
})

test('the work for a client that left before it began is not done', async () => {
  const schemas = new OneAtATime()
  let done = 0
  const left = Promise.withResolvers<void>()
  const socket = beginRequest(schemas, async (response) => {
    socket.destroy()
    await turn()
    left.resolve()
    await schemas.work(response, async () => done++)
  })
  await left.promise
  await turn()
  assert.equal(done, 0)
})
