import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { signIn } from '../../testing/sign-in.ts'
import { testClock } from '../../testing/test-clock.ts'
import { openTestServer } from '../../testing/test-server.ts'

test('requests from a blocked network are 403 until the block ends, behind a trusted proxy too', {
  skip: lacks('time'),
}, async (t) => {
  const clock = testClock()
  const service = await openTestServer(t, {
    clock: clock.clock,
    settings: { admins: ['root@example.org'], trustedProxies: ['127.0.0.1'] },
  })
  const { token } = await signIn(service, 'root@example.org')
  const statusFrom = async (address: string, path = '/v1/datasets') => {
    const { status, body } = await service.request('GET', path, { headers: { 'x-forwarded-for': address } })
    if (status === 403) assert.equal(body.code, 'address-blocked')
    return status
  }
  const block = async (network: string, expiresAt?: string) => {
    const answer = await service.request('POST', '/v1/admin/address-blocks', {
      token,
      headers: { 'x-forwarded-for': '203.0.113.9' },
      body: { network, reason: 'Flood', expiresAt },
    })
    return answer
  }
  const { body: first } = await block(
    '192.0.2.0/24',
    new Date(clock.clock().getTime() + 60_000).toISOString(),
  )
  assert.equal(first.network, '192.0.2.0/24')
  assert.equal((await block('2001:DB8::/32')).body.network, '2001:db8::/32')
  assert.equal((await block('198.51.100.7')).body.network, '198.51.100.7/32')
  for (const [address, status] of [
    ['192.0.2.1', 403],
    ['::ffff:192.0.2.1', 403],
    ['192.0.3.1', 200],
    ['2001:db8:5::1', 403],
    ['2001:db9::1', 200],
    ['198.51.100.7', 403],
    ['198.51.100.8', 200],
  ] as const) {
    assert.equal(await statusFrom(address), status, address)
    // Items go through the socket transport.
    const items = await statusFrom(address, '/v1/ogc/collections')
    assert.equal(items === 403, status === 403, address)
  }
  // A forged header of a client that is not a trusted proxy changes nothing: the rule is that of X-Forwarded-For.
  assert.equal(await statusFrom('192.0.2.1, 203.0.113.9'), 200)

  for (const network of [
    'x',
    '1.2.3',
    '192.0.2.0/33',
    '2001:db8::/129',
    '192.0.2.0/24/1',
    '1.2.3.4/',
    'fe80::1%eth0',
  ])
    assert.equal((await block(network)).status, 400, network)
  // A leap second, and a time that its offset moves into the year 10000.
  for (const time of ['2001-01-01T00:00:00Z', '2030-12-31T23:59:60Z', '9999-12-31T23:59:59-12:00'])
    assert.equal((await block('192.0.2.9', time)).status, 400, time)
  const own = await block('203.0.113.0/24')
  assert.deepEqual([own.status, own.body.code], [409, 'conflict'])

  clock.pass(61_000)
  await service.parts.addressBlocks.load()
  assert.equal(await statusFrom('192.0.2.1'), 200, 'expired')
  const { json } = await runCommand(service.config, 'address', 'list', '--json')
  assert.equal(json.data.length, 3)
  for (const { id } of json.data)
    assert.equal((await runCommand(service.config, 'address', 'unblock', id)).code, 0)
  while ((await statusFrom('198.51.100.7')) !== 200) await sleep(20)
  assert.ok(service.parts.addressBlocks.isEmpty)
  const added = await runCommand(service.config, 'address', 'block', '198.51.100.7', '--reason', 'Guesses')
  assert.match(added.stdout, /^Blocked 198\.51\.100\.7\/32/)
  while ((await statusFrom('198.51.100.7')) !== 403) await sleep(20)
  // As it was typed, without looking up the id.
  assert.equal((await runCommand(service.config, 'address', 'unblock', '198.51.100.7')).code, 0)
  while ((await statusFrom('198.51.100.7')) !== 200) await sleep(20)
  for (const network of ['127.0.0.1', '127.0.0.0/8', '0.0.0.0/0', '::1', '::/0']) {
    const refused = await runCommand(service.config, 'address', 'block', network, '--reason', 'Mistake')
    assert.deepEqual([refused.code, /loopback/.test(refused.stderr)], [1, true], network)
  }
  const unknown = await runCommand(service.config, 'address', 'unblock', '198.51.100.7')
  assert.deepEqual([unknown.code, /no such block/.test(unknown.stderr)], [1, true])
})
