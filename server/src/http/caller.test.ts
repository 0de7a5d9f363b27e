import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import fc from 'fast-check'
import fastify from 'fastify'
import { TrustedProxies } from './caller.ts'

test('the client address is the one that Fastify determines, whatever headers claim', async () => {
  const trusted = ['10.0.0.0/8', '192.0.2.7', '2001:db8::/32', '::1']
  const proxies = new TrustedProxies(trusted)
  const app = fastify({ trustProxy: trusted })
  app.get('/', ({ ip, host, protocol, raw }) => ({
    theirs: { address: ip, host, protocol },
    ours: proxies.callerOf(raw as IncomingMessage),
  }))
  const address = fc.constantFrom(
    '10.1.2.3',
    '192.0.2.7',
    '192.0.2.8',
    '::1',
    '2001:db8::5',
    '::ffff:10.0.0.1',
    'x',
  )
  const list = fc
    .array(fc.oneof(address, fc.constantFrom('', ' ')), { maxLength: 4 })
    .map((all) => all.join(', '))
  const peer = address.filter((text) => text !== 'x')
  const headers = fc.record(
    {
      host: fc.constantFrom('a.example', 'b.example:8080'),
      'x-forwarded-for': list,
      'x-forwarded-host': fc.constantFrom('', 'c.example', 'c.example, d.example'),
      'x-forwarded-proto': fc.constantFrom('https', 'http,https', 'https, http'),
    },
    { requiredKeys: ['host'] },
  )
  await fc.assert(
    fc.asyncProperty(peer, headers, async (remoteAddress, given) => {
      const answer = await app.inject({ url: '/', remoteAddress, headers: given })
      const { ours, theirs } = answer.json()
      assert.deepEqual(ours, theirs)
    }),
    { numRuns: 500 },
  )
})
