import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { openAccount } from '../../testing/account.ts'
import { startServerProcess } from '../../testing/processes/server-process.ts'
import { openTestServer, temporaryFolder } from '../../testing/test-server.ts'
import { until } from '../../testing/until.ts'
import { openReceiver } from '../../testing/webhook-receiver.ts'

needs('time')

test('a server that is killed before a message is delivered loses none, and sends it with the same id', async (t) => {
  const dataDir = temporaryFolder(t)
  const receiver = await openReceiver(t)
  const service = await openTestServer(t, { dataDir, settings: { allowInternalAddresses: true } })
  const { token } = await openAccount(service, 'ada@example.org')
  const body = { url: receiver.url, events: ['key.created'] }
  const { secret } = (await service.request('POST', '/v1/webhooks', { token, body })).body
  await service.stop()

  const environment = { WAYLEAVE_ALLOW_INTERNAL_ADDRESSES: 'true' }
  const first = await startServerProcess(t, dataDir, environment)
  receiver.respond = () => {}
  const created: string[] = []
  for (let i = 0; i < 3; i++) {
    const response = await fetch(`${first.url}/v1/api-keys/personal`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: `Key ${i}`, permissions: ['read'] }),
    })
    created.push(((await response.json()) as { id: string }).id)
  }
  // The first message is under way, the others wait behind it.
  await until('the first message', () => receiver.received.length === 1)
  await first.kill()

  receiver.respond = (response) => void response.writeHead(204).end()
  await startServerProcess(t, dataDir, environment)
  await until('all messages', () => receiver.received.length === 4)
  const [lost, again] = receiver.received
  assert.equal(again!.headers['webhook-id'], lost!.headers['webhook-id'])
  assert.equal(again!.payload, lost!.payload)
  assert.deepEqual(
    receiver.received.slice(1).map(({ body }) => body.data.keyId),
    created,
  )
  for (const { payload, headers } of receiver.received) new Webhook(secret).verify(payload, headers)
})
