import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LoadRegistry, registryLink, ThreadLoads } from './load-registry.ts'

function threads(count: number) {
  const registry = new LoadRegistry()
  const loads = Array.from({ length: count }, (_, i) => new ThreadLoads(registryLink(registry, i + 1)))
  return { registry, loads }
}

test('data that one thread has loaded is used by all, until the last releases it', async () => {
  const { registry, loads } = threads(3)
  let reads = 0
  const read = async () => ({ bytes: new Uint8Array(new SharedArrayBuffer(++reads)) })
  const values = await Promise.all(loads.map((one) => one.load('block', read)))
  assert.equal(reads, 1)
  assert.ok(values.every((value) => value === values[0]))
  // A thread that loads it twice releases it twice.
  await loads[0]!.load('block', read)
  for (const one of loads) one.release('block')
  assert.equal(registry.size, 1)
  loads[0]!.release('block')
  assert.equal(registry.size, 0)
  await loads[1]!.load('block', read)
  assert.equal(reads, 2)
})

test('if a load fails, the next thread that waits tries, and the error is not kept', async () => {
  const { registry, loads } = threads(2)
  const failing = assert.rejects(
    loads[0]!.load('block', () => Promise.reject(new Error('damaged'))),
    { message: 'damaged' },
  )
  const value = { bytes: new Uint8Array(1) }
  assert.equal(await loads[1]!.load('block', async () => value), value)
  await failing
  assert.equal(await loads[0]!.load('block', async () => ({ bytes: new Uint8Array(2) })), value)
  assert.equal(registry.size, 1)
})

test('a thread that ends neither holds what it used nor blocks what it was loading', async () => {
  const { registry, loads } = threads(2)
  await loads[0]!.load('used', async () => ({ n: 1 }))
  void loads[0]!.load('unfinished', () => new Promise<object>(() => {}))
  await new Promise(setImmediate)
  const waiting = loads[1]!.load('unfinished', async () => ({ n: 2 }))
  registry.forget(1)
  assert.deepEqual(await waiting, { n: 2 })
  assert.equal(registry.size, 1)
})
