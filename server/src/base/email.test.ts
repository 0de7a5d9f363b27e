import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { normalEmail } from './email.ts'

test('every way to write an address comes to one form', () => {
  const forms: [given: string, normal: string][] = [
    [' Ada@Example.ORG\n', 'ada@example.org'],
    ['ada+maps@example.org', 'ada+maps@example.org'],
    ['ada@münchen.example', 'ada@xn--mnchen-3ya.example'],
    ['ada@localhost', 'ada@localhost'],
  ]
  for (const [given, normal] of forms) assert.equal(normalEmail(given), normal)
})

test('what cannot be an address is refused', () => {
  const wrong = [
    '',
    '@',
    'ada',
    'ada@',
    '@example.org',
    'ada@@example.org',
    'ada lovelace@example.org',
    'ada@exa mple.org',
    'ada@example..org',
    '.ada@example.org',
    'ada.@example.org',
    'ada@-example.org',
    'ada@example.org, eve@example.org',
    '<ada@example.org>',
    'ada@example.org\r\nbcc: eve@example.org',
    'ädä@example.org',
    `${'a'.repeat(65)}@example.org`,
    `ada@${'a.'.repeat(125)}example.org`,
  ]
  for (const text of wrong) assert.equal(normalEmail(text), null, text)
})

test('whatever is accepted fits a mail header, is its own normal form and has at most 254 characters', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.emailAddress(),
        fc.string(),
        fc.string().map((text) => `${text}@x.org`),
      ),
      (text) => {
        const email = normalEmail(text)
        if (email === null) return
        assert.match(email, /^[\x21-\x7e]+$/)
        assert.doesNotMatch(email, /[<>,;:"()[\]\\]/)
        assert.equal(normalEmail(email), email)
        assert.ok(email.length <= 254)
      },
    ),
  )
})
