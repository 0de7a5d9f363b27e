import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AllowedCallers, normalOrigin } from './allowed-callers.ts'
import { normalNetwork } from './networks.ts'

test('an origin is stored as browsers send it, and what is not an origin of web pages is refused', () => {
  const cases: [text: string, normal: string | null][] = [
    ['https://maps.example.org', 'https://maps.example.org'],
    [' HTTPS://Maps.Example.ORG/ ', 'https://maps.example.org'],
    ['https://example.org:443', 'https://example.org'],
    ['http://localhost:5173', 'http://localhost:5173'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['https://*.example.org', 'https://*.example.org'],
    ['https://*.Example.org:8443', 'https://*.example.org:8443'],
    ...[
      '',
      '*',
      'https://*',
      'https://*.org',
      'https://*.*.org',
      'https://a.*.org',
      'https://*example.org',
      'https://*.192.0.2.1',
      'https://*.[2001:db8::1]',
      'https://example.org/path',
      'https://example.org?x',
      'https://user@example.org',
      'https://example.org.',
      'https://exa mple.org',
      'ftp://example.org',
      'example.org',
      'null',
      'file://',
    ].map((text): [string, null] => [text, null]),
  ]
  for (const [text, normal] of cases) assert.equal(normalOrigin(text), normal, text)
})

test('only pages of allowed origins may use a key, by Origin or else by Referer', () => {
  const callers = new AllowedCallers(['https://maps.example.org', 'https://*.example.net'], null)
  const refusal = (origin?: string, referer?: string) => callers.refusal({ origin, referer }, '192.0.2.1')
  for (const origin of ['https://maps.example.org', 'https://a.example.net', 'https://a.b.example.net']) {
    assert.equal(refusal(origin), null, origin)
    assert.equal(refusal(undefined, `${origin}/map?x=https://other.example`), null, origin)
    assert.equal(refusal(undefined, origin), null, origin)
  }
  const others = [
    'https://example.org',
    'https://maps.example.org.evil.example',
    'https://evil.example/https://maps.example.org',
    'http://maps.example.org',
    'https://maps.example.org:8443',
    'https://example.net',
    'https://.example.net',
    'https://evilexample.net',
    'https://evil.example?.example.net',
    'https://evil.example#a.example.net',
    'https://user@a.example.net',
    'https://a.example.net.evil.example',
    'null',
    '',
  ]
  for (const origin of others) {
    assert.equal(refusal(origin), 'origin-not-allowed', origin)
    assert.equal(refusal(undefined, origin), 'origin-not-allowed', origin)
  }
  assert.equal(refusal(), 'origin-not-allowed')
  // A script cannot set Origin, but a page can choose what Referer says less freely: Origin decides.
  assert.equal(refusal('https://evil.example', 'https://maps.example.org/'), 'origin-not-allowed')
})

test('only allowed addresses may use a key: IPv4, IPv6 and IPv4 written as IPv6', () => {
  const callers = new AllowedCallers(null, ['192.0.2.0/24', '2001:db8::/32', '::ffff:198.51.100.0/120'])
  const isAllowed = (address: string) => callers.refusal({}, address) === null
  for (const address of [
    '192.0.2.1',
    '::ffff:192.0.2.1',
    '::ffff:c000:201',
    '2001:db8:1::1',
    '198.51.100.7',
    '::ffff:198.51.100.7',
  ]) {
    assert.ok(isAllowed(address), address)
    assert.ok(isAllowed(address), `${address} again`)
  }
  for (const address of [
    '192.0.3.1',
    '::ffff:192.0.3.1',
    '2001:db9::1',
    '198.51.101.7',
    '::1',
    '',
    'unknown',
  ])
    assert.ok(!isAllowed(address), address)
})

test('a key with origins and addresses needs both', () => {
  const callers = new AllowedCallers(['https://a.example'], ['192.0.2.1'])
  assert.equal(callers.refusal({ origin: 'https://a.example' }, '192.0.2.1'), null)
  assert.equal(callers.refusal({ origin: 'https://a.example' }, '192.0.2.2'), 'address-not-allowed')
  assert.equal(callers.refusal({}, '192.0.2.1'), 'origin-not-allowed')
})

test('a network has a number of bits, and IPv4 in IPv6 notation is IPv4', () => {
  const cases: [string, string | null][] = [
    ['192.0.2.1', '192.0.2.1/32'],
    [' 192.0.2.0/24 ', '192.0.2.0/24'],
    ['2001:DB8::/32', '2001:db8::/32'],
    ['::ffff:192.0.2.1', '192.0.2.1/32'],
    ['::ffff:192.0.2.0/120', '192.0.2.0/24'],
    ['::ffff:c000:200/120', '192.0.2.0/24'],
    ['192.0.2.0/33', null],
    ['2001:db8::/129', null],
    ['192.0.2.0/', null],
    ['192.0.2.0/8/8', null],
    ['192.0.2', null],
    ['fe80::1%eth0', null],
    ['example.org', null],
    ['', null],
  ]
  for (const [text, network] of cases) assert.equal(normalNetwork(text), network, text)
})
