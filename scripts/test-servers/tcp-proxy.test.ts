import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { TcpProxy } from './tcp-proxy.ts'

test('a frozen link delivers when it opens again; a dead one never; a new one does', async (t) => {
  const sockets = new Set<Socket>()
  const echo = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).pipe(socket)
  })
  echo.listen(0, '127.0.0.1')
  await once(echo, 'listening')
  t.after(() => {
    echo.close()
    for (const socket of sockets) socket.destroy()
  })
  const target = `tcp://127.0.0.1:${(echo.address() as AddressInfo).port}`
  const { proxy, url } = await TcpProxy.open(target, (close) => t.after(close))
  const open = async () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    t.after(() => socket.destroy())
    let received = ''
    socket.setEncoding('utf8').on('data', (text: string) => {
      received += text
    })
    await once(socket, 'connect')
    return { socket, received: () => received }
  }
  const first = await open()
  first.socket.write('a')
  await once(first.socket, 'data')

  proxy.set('frozen')
  first.socket.write('b')
  await sleep(50)
  assert.equal(first.received(), 'a')
  const arrived = once(first.socket, 'data')
  proxy.set('open')
  await arrived
  assert.equal(first.received(), 'ab')

  proxy.set('dead')
  first.socket.write('c')
  proxy.set('open')
  const second = await open()
  second.socket.write('d')
  await once(second.socket, 'data')
  assert.equal(second.received(), 'd')
  assert.equal(first.received(), 'ab')

  proxy.cut()
  second.socket.write('e')
  const third = await open()
  third.socket.write('f')
  await sleep(50)
  assert.equal(third.received(), '')
  const healed = once(third.socket, 'data')
  proxy.set('open')
  await healed
  assert.equal(third.received(), 'f')
  assert.equal(second.received(), 'd')
  // A dead link does not tell its other side that it was closed.
  const connections = sockets.size
  second.socket.destroy()
  await sleep(50)
  assert.equal([...sockets].filter((socket) => !socket.destroyed).length, connections)

  const ended = once(third.socket, 'close')
  await proxy.close()
  await ended
  const refused = connect(Number(new URL(url).port), '127.0.0.1')
  const [error] = await once(refused, 'error')
  assert.equal(error.code, 'ECONNREFUSED')
})
