import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JOB_KINDS, type JobKind } from './job-kinds.ts'
import { JobPlaces } from './job-places.ts'

const limits = { publish: 1, inspect: 0, export: 0, tiles: 0, part: 0 } satisfies Record<JobKind, number>
const { signal } = new AbortController()

test('work beside a job leaves its place to another one, and needs a place again afterwards', async () => {
  let freed = 0
  const places = new JobPlaces(limits, 1, () => freed++)
  assert.ok(JOB_KINDS.includes('publish'))
  const first = places.take('publish')
  assert.deepEqual(places.kindsWithPlaces(), [])
  const fetching = Promise.withResolvers<string>()
  const order: string[] = []
  const fetched = first.beside(() => fetching.promise, signal).then((text) => order.push(text))
  assert.deepEqual([places.kindsWithPlaces(), freed], [['publish'], 1])
  const second = places.take('publish')
  // Only one job may be without a place: this one keeps its own.
  assert.equal(await second.beside(async () => places.kindsWithPlaces().length, signal), 0)
  fetching.resolve('fetched')
  await new Promise(setImmediate)
  order.push('second ends')
  second.leave()
  await fetched
  assert.deepEqual(order, ['second ends', 'fetched'])
  assert.deepEqual(places.kindsWithPlaces(), [])
  first.leave()
  first.leave()
  assert.deepEqual(places.kindsWithPlaces(), ['publish'])
})

test('a job that fails or is cancelled without its place does not wait for one', async () => {
  const places = new JobPlaces(limits, 2, () => {})
  const failing = places.take('publish')
  const failure = failing.beside(() => Promise.reject(new Error('gone')), signal)
  const other = places.take('publish')
  await assert.rejects(failure, /gone/)
  failing.leave()
  assert.deepEqual(places.kindsWithPlaces(), [])
  const cancelling = new AbortController()
  const cancelled = other.beside(async () => places.take('publish'), cancelling.signal)
  await new Promise(setImmediate)
  cancelling.abort(new Error('cancelled'))
  await assert.rejects(cancelled, /cancelled/)
  other.leave()
  assert.deepEqual(places.kindsWithPlaces(), [])
})
