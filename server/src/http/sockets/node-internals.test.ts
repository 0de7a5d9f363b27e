import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { bytesTaken, canBypassHead, markHeadSent, responseOn } from './node-internals.ts'

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
