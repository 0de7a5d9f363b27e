import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Authenticate, type AuthenticateOptions } from '../../accounts/access/authenticate.ts'
import type { Grant } from '../../accounts/access/grant.ts'
import { MemoryLimiter } from '../../base/limits/memory-limiter.ts'
import { readCharged } from './admit.ts'

test('a query that is refused is charged to its key by the time it took, others are not', async (t) => {
  const limiter = new MemoryLimiter(() => 0)
  t.after(() => limiter.close())
  const authenticate = new Authenticate({ limiter } as unknown as AuthenticateOptions)
  const rate = { requests: 6000, burst: 600 }
  const small = { requests: 10, burst: 10 }
  const grant = {
    bucket: { name: 'key', rate },
    ownerBucket: { name: 'owner', rate: small },
  } as Grant
  const remaining = () => [limiter.peek('key', rate).remaining, limiter.peek('owner', small).remaining]
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

function busyFor(milliseconds: number): boolean {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
  return true
}
