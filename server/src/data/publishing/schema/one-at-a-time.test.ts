import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { operator } from '../../../base/events/events.ts'
import { cleanUp } from '../../../testing/cleanup.ts'
import { publishText } from '../../../testing/publish.ts'
import { openTestServer } from '../../../testing/test-server.ts'

const BODY = JSON.stringify({ columns: [{ name: 'a', type: 'integer' }] })

test('a key has one schema read at a time, and keys do not wait for one another', async (t) => {
  const service = await openTestServer(t)
  await publishText(service, 'numbers', 'a.csv', 'a\n1\n')
  const { port } = new URL(service.url)
  const [slow, other] = await Promise.all(
    ['slow', 'other'].map(async (name) => {
      const newKey = { name, permissions: ['read', 'write'] }
      return (await service.parts.keys.createPlatform(operator, newKey)).secret
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
