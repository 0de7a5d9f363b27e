import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { test } from 'node:test'
import {
  bytesTaken,
  canBypassHead,
  endEmptyBody,
  markHeadSent,
  responseOn,
  writeNow,
} from './node-internals.ts'

test('the pinned Node has the fields that the socket transport uses', () => {
  assert.equal(canBypassHead(), true)
})

test('a response whose head is marked as sent writes none, and the next request of the connection is served', async (t) => {
  const served: (number | null)[] = []
  const server = createServer((_request, response) => {
    const socket = response.socket as Socket
    assert.equal(responseOn(socket), response)
    markHeadSent(response, 'HTTP/1.1 200 OK\r\n')
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi', () => served.push(bytesTaken(socket)))
    response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
  socket.setEncoding('latin1').write(request)
  const one = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi'
  let text = ''
  for await (const part of socket) {
    text += part
    if (text === one) socket.write(request)
    if (text.length >= 2 * one.length) break
  }
  assert.equal(text, one + one)
  assert.deepEqual(served, [one.length, 2 * one.length])
})

test('only a GET or HEAD without a body is ended, and the connection serves further requests', async (t) => {
  const bodies: [method: string, wasEnded: boolean, body: string][] = []
  const server = createServer(async (request, response) => {
    endEmptyBody(request)
    const wasEnded = request.readableEnded
    let body = ''
    if (!wasEnded) for await (const part of request.setEncoding('latin1')) body += part
    bodies.push([request.method!, wasEnded, body])
    response.end('hi')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const send = (method: string, rest: string) => socket.write(`${method} / HTTP/1.1\r\nHost: a\r\n${rest}`)
  send('GET', '\r\n')
  send('GET', 'Content-Length: 3\r\n\r\none')
  send('HEAD', '\r\n')
  send('POST', '\r\n')
  send('GET', 'Transfer-Encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\n\r\n')
  send('GET', 'Connection: close\r\n\r\n')
  const text = Buffer.concat(await socket.toArray()).toString()
  assert.equal(text.match(/HTTP\/1\.1 200 OK/g)?.length, 6)
  // Node starts pipelined requests at once, so those without a body end first.
  assert.deepEqual(bodies.toSorted(), [
    ['GET', false, 'one'],
    ['GET', false, 'two'],
    ['GET', true, ''],
    ['GET', true, ''],
    ['HEAD', true, ''],
    ['POST', false, ''],
  ])
})

test('bytes that are written at once come before those that wait, and none are accepted while others wait', async (t) => {
  const piece = Buffer.alloc(1 << 20, 'a')
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause()
  const [socket] = (await once(server, 'connection')) as [Socket]
  let accepted = 0
  for (let now = piece.length; now === piece.length; accepted += now) now = writeNow(socket, [piece])
  assert.equal(bytesTaken(socket), accepted)
  socket.end(Buffer.from('the rest'))
  assert.ok(socket.writableLength > 0)
  assert.equal(writeNow(socket, [piece]), 0)
  const text = Buffer.concat(await client.toArray()).toString()
  assert.equal(text.length, accepted + 'the rest'.length)
  assert.match(text, /^a*the rest$/)
})

test('nothing is written at once to a connection that has ended', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [socket] = (await once(server, 'connection')) as [Socket]
  client.destroy()
  await once(socket, 'close')
  assert.equal(writeNow(socket, [Buffer.from('late')]), 0)
})
