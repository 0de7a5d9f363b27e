import { once } from 'node:events'
import { connect } from 'node:net'
import type { Attack, Attacked } from './attacker.ts'
import { ResponseReader } from './response-reader.ts'

const [order] = (await once(process, 'message')) as [Attack]
const result: Attacked = { responses: 0, statuses: {} }
const end = performance.now() + order.milliseconds
for (let i = 0; i < order.connections; i++) open(order.texts[i % order.texts.length]!)
setTimeout(() => process.send!(result, () => process.exit()), order.milliseconds)

/** Sends the next request when the response to the last one has arrived; connects again when it is closed. */
function open(text: string): void {
  const socket = connect(order.port, '127.0.0.1')
  const reader = new ResponseReader((status) => {
    result.responses++
    result.statuses[status] = (result.statuses[status] ?? 0) + 1
    socket.write(text)
  })
  socket.on('connect', () => socket.write(text))
  socket.on('data', (bytes) => reader.take(bytes))
  socket.on('error', () => {})
  socket.on('close', () => {
    if (performance.now() < end) setTimeout(open, 1, text)
  })
}
