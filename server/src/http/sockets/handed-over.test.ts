import assert from 'node:assert/strict'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Exchange } from './exchange.ts'
import { HandedOver } from './fastify-transport.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void
const COUNT = 100
const URL_BYTES = 40_000

test('what was handed over is collected among young objects once it was taken', async () => {
  const handedOver = new HandedOver()
  // Now the table of the WeakMap is old.
  collect()
  const before = process.memoryUsage().heapUsed
  for (let i = 0; i < COUNT; i++) {
    handOver(handedOver)
    await turn()
    if (i % 20 === 0) collect({ type: 'minor' })
  }
  collect({ type: 'minor' })
  const kept = process.memoryUsage().heapUsed - before
  assert.ok(kept < (COUNT * URL_BYTES) / 4, `${kept} bytes are kept`)
})

function handOver(handedOver: HandedOver): void {
  const request = new IncomingMessage(new Socket())
  request.url = Buffer.alloc(URL_BYTES, 'a').toString('latin1')
  const caller = { host: 'localhost', protocol: 'http' as const, address: '127.0.0.1' }
  const exchange = new Exchange(request, new ServerResponse(request), caller)
  handedOver.set(request, { exchange, response: Promise.reject(new Error('refused')) })
  assert.equal(handedOver.take(request)?.exchange, exchange)
}
