import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { createNumbers, SharedNumbers } from './shared-numbers.ts'

const NOW = 1000

test('steps of several threads on one or two names are exact', async () => {
  const memory = createNumbers(64)
  const module = new URL('./shared-numbers.ts', import.meta.url).href
  const script = `
    import { workerData } from 'node:worker_threads'
    const { SharedNumbers } = await import(${JSON.stringify(module)})
    const numbers = new SharedNumbers(workerData.memory)
    const [first, second] = workerData.names
    for (let i = 0; i < 5000; i++) {
      numbers.hold(first, second)
      for (const name of [first, second]) numbers.set(name, numbers.get(name, ${NOW}) + 1, Infinity, ${NOW})
      numbers.release()
    }`
  const start = (names: string[]) =>
    once(
      new Worker(new URL(`data:text/javascript,${encodeURIComponent(script)}`), {
        workerData: { memory, names },
      }),
      'exit',
    )
  // In both orders: threads that hold one name must not wait for each other's.
  await Promise.all([start(['a', 'b']), start(['b', 'a']), start(['a', 'c'])])
  const numbers = new SharedNumbers(memory)
  const read = (name: string) => {
    numbers.hold(name)
    const value = numbers.get(name, NOW)
    numbers.release()
    return value
  }
  assert.deepEqual(['a', 'b', 'c', 'd'].map(read), [15_000, 10_000, 5000, 0])
})

test('an expired number is 0 and makes room; a full table discards what expires first', () => {
  const numbers = new SharedNumbers(createNumbers(32))
  const set = (name: string, value: number, expiresAt: number, now = 0) => {
    numbers.hold(name)
    numbers.set(name, value, expiresAt, now)
    numbers.release()
  }
  const read = (name: string, now = 0) => {
    numbers.hold(name)
    const value = numbers.get(name, now)
    numbers.release()
    return value
  }
  for (let i = 0; i < 32; i++) set(`name ${i}`, i + 1, 100 + i)
  assert.equal(read('name 31'), 32)
  assert.equal(read('name 5', 105), 0)
  set('another', 7, 500)
  assert.equal(read('name 0'), 0, 'the first to expire was discarded')
  assert.equal(read('name 1'), 2)
  assert.equal(read('another'), 7)
  set('later', 8, 500, 102)
  assert.equal(read('name 3'), 4, 'an expired one made room')
  assert.equal(read('later'), 8)
})
