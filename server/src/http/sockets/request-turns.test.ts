import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestTurns, senderOf } from './request-turns.ts'

const immediate = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Turns on a clock that only requests advance, and the names of the requests in the order in which they began. */
function openTurns() {
  let now = 0
  const turns = new RequestTurns(() => now)
  const begun: string[] = []
  const send = (address: string, credentials: string, milliseconds: number) =>
    turns.take(
      () => ({ address, credentials }),
      () => {
        begun.push(credentials)
        // Handlers are asynchronous: their work comes after the call that begins them.
        queueMicrotask(() => {
          now += milliseconds
        })
      },
    )
  return { turns, begun, send }
}

async function untilEmpty(turns: RequestTurns): Promise<void> {
  while (turns.count > 0) await immediate()
}

test('requests begin at once while the iteration has time', async () => {
  const { turns, begun, send } = openTurns()
  for (let i = 0; i < 50; i++) send('a', `${i}`, 0.01)
  assert.equal(begun.length, 50)
  assert.equal(turns.count, 0)
})

test('a request waits for a few expensive ones of others, however many were sent before it', async () => {
  for (const victim of ['a', 'b']) {
    const { turns, begun, send } = openTurns()
    for (let i = 0; i < 200; i++) {
      send('a', 'attacker', 20)
      await Promise.resolve()
    }
    send(victim, 'victim', 0.1)
    await untilEmpty(turns)
    assert.ok(begun.indexOf('victim') <= 3, `${begun.indexOf('victim')} at address ${victim}`)
    assert.equal(begun.length, 201)
  }
})

test('one iteration of the event loop begins a few expensive requests and many cheap ones', async () => {
  const { turns, begun, send } = openTurns()
  for (let i = 0; i < 20; i++) {
    send('a', 'expensive', 20)
    await Promise.resolve()
  }
  let before = begun.length
  while (turns.count > 0) {
    await immediate()
    assert.ok(begun.length - before <= 1)
    before = begun.length
  }
  send('a', 'expensive', 20)
  await Promise.resolve()
  for (let i = 0; i < 64; i++) send('a', 'cheap', 0.01)
  assert.equal(turns.count, 64)
  await immediate()
  await immediate()
  assert.equal(turns.count, 0)
})

test('addresses take turns, and within an address credentials do', async () => {
  const { turns, begun, send } = openTurns()
  send('a', 'first', 20)
  await Promise.resolve()
  for (const [address, credentials] of [
    ['a', 'a1'],
    ['a', 'a1'],
    ['a', 'a2'],
    ['a', 'a3'],
    ['b', 'b1'],
    ['b', 'b1'],
  ] as const)
    send(address, credentials, 20)
  await untilEmpty(turns)
  assert.deepEqual(begun, ['first', 'a1', 'b1', 'a2', 'b1', 'a3', 'a1'])
})

test('the sender is the client behind a trusted proxy, with its key', () => {
  const callerOf = () => ({ address: '2001:db8::1', host: '', protocol: 'http' })
  const sent = (headers: object) => senderOf({ headers } as Parameters<typeof senderOf>[0], { callerOf })
  assert.deepEqual(sent({ 'x-api-key': 'k' }), { address: 'address:2001:db8:0:0::/64', credentials: 'k' })
  assert.equal(sent({ authorization: 'Bearer x' }).credentials, 'Bearer x')
  assert.equal(sent({}).credentials, '')
})
