import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decide, type Rate, rateLimitHeaders } from './limiter.ts'
import { MemoryLimiter } from './memory-limiter.ts'

const rates: fc.Arbitrary<Rate> = fc.record({
  requests: fc.integer({ min: 1, max: 100_000 }),
  burst: fc.integer({ min: 1, max: 1000 }),
})
/** Pauses between requests, in milliseconds. */
const pauses = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 5000 })), { maxLength: 200 })

/** A real time in microseconds, so that rounding errors show. */
const START = Date.parse('2026-01-02T03:04:05.678Z') * 1000

function run(rate: Rate, waits: number[]) {
  let now = START
  let fullAgainAt = 0
  return waits.map((wait) => {
    now += wait * 1000
    const { decision, next } = decide(fullAgainAt, now, rate)
    fullAgainAt = next
    return { now, ...decision }
  })
}

test('in any stretch of time at most the burst and the steady flow is let through', () => {
  fc.assert(
    fc.property(rates, pauses, (rate, waits) => {
      const passed = run(rate, waits).filter(({ allowed }) => allowed)
      for (const [from, first] of passed.entries()) {
        for (const [to, last] of passed.entries()) {
          if (to < from) continue
          const flow = ((last.now - first.now) / 60e6) * rate.requests
          assert.ok(to - from + 1 <= rate.burst + flow + 1e-6)
        }
      }
    }),
  )
})

test('a full bucket admits its whole burst at one moment, and nothing more', () => {
  fc.assert(
    fc.property(rates, fc.integer({ min: 0, max: 1e9 }), (rate, later) => {
      let fullAgainAt = 0
      for (let left = rate.burst - 1; left >= 0; left--) {
        const { decision, next } = decide(fullAgainAt, START + later, rate)
        assert.deepEqual([decision.allowed, decision.remaining], [true, left])
        fullAgainAt = next
      }
      assert.ok(!decide(fullAgainAt, START + later, rate).decision.allowed)
    }),
  )
})

test('a caller that keeps to the rate is never refused', () => {
  fc.assert(
    fc.property(rates, fc.array(fc.integer({ min: 0, max: 1000 }), { maxLength: 200 }), (rate, extra) => {
      const waits = extra.map((more) => Math.ceil(60_000 / rate.requests) + more)
      assert.ok(run(rate, waits).every(({ allowed }) => allowed))
    }),
  )
})

test('what a decision promises holds: so many more pass now, and the next one after the wait', () => {
  fc.assert(
    fc.property(rates, pauses, (rate, waits) => {
      let now = START
      let fullAgainAt = 0
      for (const wait of waits) {
        now += wait * 1000
        const { decision, next } = decide(fullAgainAt, now, rate)
        fullAgainAt = next
        assert.equal(decision.retryAfter === 0, decision.allowed)
        let at = fullAgainAt
        for (let i = 0; i < Math.min(decision.remaining, 20); i++) {
          const further = decide(at, now, rate)
          assert.ok(further.decision.allowed)
          at = further.next
        }
        if (decision.remaining < 20) assert.ok(!decide(at, now, rate).decision.allowed)
        assert.ok(
          decide(fullAgainAt, now + decision.retryAfter * 1e6, rate).decision.allowed || decision.allowed,
        )
        const rested = decide(fullAgainAt, now + decision.reset * 1e6, rate).decision
        assert.equal(rested.remaining, rate.burst - 1)
      }
    }),
  )
})

test('a refused request costs nothing', () => {
  const rate = { requests: 60, burst: 2 }
  let now = 0
  const limiter = new MemoryLimiter(() => now)
  assert.deepEqual(
    [1, 2, 3, 4, 5].map(() => limiter.take('a', rate).allowed),
    [true, true, false, false, false],
  )
  now = 1000
  assert.deepEqual(
    [1, 2].map(() => limiter.take('a', rate).allowed),
    [true, false],
  )
  return limiter.close()
})

test('after the clock is set back, requests continue at the steady rate', () => {
  const rate = { requests: 60, burst: 3 }
  let now = START / 1000
  const limiter = new MemoryLimiter(() => now)
  const takes = [
    () => limiter.take('a', rate),
    () => limiter.takeBoth({ name: 'b', rate }, { name: 'c', rate }).decision,
  ]
  for (const take of takes) while (take().allowed);
  now -= 3_600_000
  for (const take of takes) {
    const { allowed, remaining, reset, retryAfter } = take()
    assert.deepEqual([allowed, remaining, reset, retryAfter], [false, 0, 3, 1])
  }
  now += 1000
  for (const take of takes) assert.deepEqual([take().allowed, take().allowed], [true, false])
  return limiter.close()
})

test('buckets do not touch each other, and looking does not count', () => {
  const rate = { requests: 60, burst: 1 }
  const limiter = new MemoryLimiter(() => 0)
  for (let i = 0; i < 5; i++) assert.ok(limiter.peek('a', rate).allowed)
  assert.ok(limiter.take('a', rate).allowed)
  assert.ok(!limiter.peek('a', rate).allowed)
  assert.ok(limiter.take('b', rate).allowed)
  return limiter.close()
})

test('a window of fifteen minutes lets its figure through and no more', () => {
  const rate = { requests: 5, burst: 5, windowSeconds: 900 }
  let now = 0
  const limiter = new MemoryLimiter(() => now)
  const take = (count: number) =>
    Array.from({ length: count }, () => limiter.take('a', rate)).filter(({ allowed }) => allowed).length
  assert.equal(take(8), 5)
  now += 180_000
  assert.equal(take(8), 1)
  now += 900_000
  assert.equal(take(8), 5)
  return limiter.close()
})

test('the headers are the structured fields of the draft', () => {
  const rate = { requests: 600, burst: 100 }
  const { decision } = decide(0, 0, rate)
  assert.deepEqual(rateLimitHeaders('key', rate, decision), ['"key";q=600;w=60', '"key";r=99;t=1'])
})

test('a charge takes more tokens of a bucket, and never makes it emptier than empty', async () => {
  let now = 1000
  const limiter = new MemoryLimiter(() => now)
  const bucket = { name: 'key', rate: { requests: 60, burst: 10 } }
  limiter.take(bucket.name, bucket.rate)
  limiter.charge(bucket, 4)
  assert.equal(limiter.peek(bucket.name, bucket.rate).remaining, 4)
  limiter.charge(bucket, 1000)
  assert.deepEqual(limiter.peek(bucket.name, bucket.rate), {
    allowed: false,
    remaining: 0,
    reset: 10,
    retryAfter: 1,
  })
  now += 1000
  assert.equal(limiter.take(bucket.name, bucket.rate).allowed, true)
  await limiter.close()
})
