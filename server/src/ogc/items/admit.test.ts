import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Authenticate, type AuthenticateOptions } from '../../accounts/access/authenticate.ts'
import type { Grant } from '../../accounts/access/grant.ts'
import { MemoryLimiter } from '../../base/limits/memory-limiter.ts'
import { readCharged, readInSteps } from './admit.ts'

function openLimits(t: TestContext) {
  const limiter = new MemoryLimiter(() => 0)
  t.after(() => limiter.close())
  const authenticate = new Authenticate({ limiter } as unknown as AuthenticateOptions)
  const rate = { requests: 6000, burst: 600 }
  const small = { requests: 10, burst: 10 }
  const grant = {
    owner: 'ada',
    bucket: { name: 'key', rate },
    ownerBucket: { name: 'owner', rate: small },
  } as Grant
  const remaining = () => [limiter.peek('key', rate).remaining, limiter.peek('owner', small).remaining]
  return { authenticate, grant, remaining }
}

test('a query that is refused is charged to its key by the time it took, others are not', async (t) => {
  const { authenticate, grant, remaining } = openLimits(t)
  const full = remaining()

  assert.equal(
    readCharged(grant, { authenticate }, () => busyFor(5)),
    true,
  )
  assert.deepEqual(remaining(), full)

  const refusal = new Error('refused')
  const refuse = () => {
    busyFor(5)
    throw refusal
  }
  assert.throws(() => readCharged(grant, { authenticate }, refuse), refusal)
  const [ofKey, ofOwner] = remaining()
  assert.ok(ofKey! <= full[0]! - 5)
  // At most a tenth of the burst.
  assert.ok(ofKey! >= full[0]! - 60)
  assert.equal(ofOwner, full[1]! - 1)
})

test('a query that is read in steps lets others have their turn, and is charged for its own time', async (t) => {
  const { authenticate, grant, remaining } = openLimits(t)
  const full = remaining()
  const order: string[] = []
  const steps = function* (name: string, milliseconds: number) {
    for (let i = 0; i < 3; i++) {
      order.push(name)
      busyFor(milliseconds)
      yield
    }
    return name
  }
  const deps = { authenticate }
  const other = { ...grant, owner: 'ben' }
  const reading = [
    readInSteps(grant, deps, steps('a', 2)),
    readInSteps(other, deps, steps('b', 2)),
    // Whatever has arrived is served between two steps.
    new Promise((resolve) => setImmediate(() => resolve(order.push('arrived')))),
  ]
  assert.deepEqual((await Promise.all(reading)).slice(0, 2), ['a', 'b'])
  assert.deepEqual(
    order.filter((name) => name !== 'arrived'),
    ['a', 'b', 'a', 'b', 'a', 'b'],
  )
  assert.ok(order.indexOf('arrived') <= 3, order.join())
  assert.deepEqual(remaining(), full)

  assert.equal(await readInSteps(grant, deps, steps('long', 2), true), 'long')
  assert.ok(remaining()[0]! <= full[0]! - 6)
  const afterLong = remaining()[0]!
  const refuse = function* () {
    yield* steps('refused', 2)
    throw new Error('refused')
  }
  await assert.rejects(async () => readInSteps(grant, deps, refuse()), /refused/)
  assert.ok(remaining()[0]! < afterLong)
})

function busyFor(milliseconds: number): boolean {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
  return true
}
