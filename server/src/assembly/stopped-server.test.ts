import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openAccount } from '../testing/account.ts'
import { openTestServer } from '../testing/test-server.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
/** What has just ended may be referenced for some turns of the event loop. */
const MAX_TURNS = 10

test('a server that was stopped leaves nothing in memory', async (t) => {
  let stopped: WeakRef<object> | undefined
  await t.test('a server', async (t) => {
    const service = await openTestServer(t)
    await openAccount(service, 'ada@example.org')
    stopped = new WeakRef(service.parts)
  })
  for (let turns = 0; turns < MAX_TURNS && stopped?.deref(); turns++) {
    await turn()
    collectGarbage()
  }
  assert.ok(stopped !== undefined && stopped.deref() === undefined, 'something holds the parts of the server')
})
