import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { hashOf, isWellFormed, newSecret, prefixOf, type SecretFormat } from './secret.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

const formats: fc.Arbitrary<SecretFormat> = fc.record({
  literal: fc.stringMatching(/^[a-z][a-z0-9]{0,9}$/),
  env: fc.stringMatching(/^[a-z][a-z0-9]{0,15}$/),
})
const secrets = formats.map((format) => ({ format, secret: newSecret(format) }))

/** A reference implementation of the checksum, bit by bit, as another program would compute it. */
function checksumByTheBook(text: string): string {
  let crc = 0xffffffff
  for (const byte of Buffer.from(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  let rest = BigInt((crc ^ 0xffffffff) >>> 0)
  let digits = ''
  while (rest > 0n) {
    digits = BASE62[Number(rest % 62n)] + digits
    rest /= 62n
  }
  return digits.padStart(6, '0')
}

test('a secret is its literal, its label and 32 characters, of which the last six are the checksum', () => {
  fc.assert(
    fc.property(secrets, ({ format, secret }) => {
      const start = `${format.literal}_${format.env}_`
      assert.ok(secret.startsWith(start))
      assert.match(secret.slice(start.length), /^[0-9A-Za-z]{32}$/)
      assert.equal(secret.slice(-6), checksumByTheBook(secret.slice(0, -6)))
      assert.ok(isWellFormed(secret, format))
    }),
  )
})

test('a checksum with leading zeros keeps its six characters', () => {
  const format = { literal: 'svc', env: 'live' }
  const short = Array.from({ length: 20_000 }, () => newSecret(format)).find(
    (secret) => secret.at(-6) === '0',
  )
  assert.ok(short)
  assert.equal(short.length, 'svc_live_'.length + 32)
  assert.ok(isWellFormed(short, format))
})

test('one changed, missing, added or exchanged character is refused by arithmetic alone', () => {
  fc.assert(
    fc.property(secrets, fc.nat(), fc.constantFrom(...BASE62), ({ format, secret }, place, character) => {
      const at = place % secret.length
      const next = (at + 1) % secret.length
      const changed = secret.slice(0, at) + character + secret.slice(at + 1)
      const exchanged = [...secret]
      ;[exchanged[at], exchanged[next]] = [exchanged[next]!, exchanged[at]!]
      for (const wrong of [
        changed,
        exchanged.join(''),
        secret.slice(0, at) + secret.slice(at + 1),
        secret.slice(0, at) + character + secret.slice(at),
      ]) {
        assert.equal(isWellFormed(wrong, format), wrong === secret)
      }
    }),
  )
})

test('texts of every other kind are not secrets', () => {
  const format = { literal: 'svc', env: 'live' }
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 64 }), (text) => !isWellFormed(text, format)))
  const tails = fc.oneof(
    fc.stringMatching(/^[0-9A-Za-z]{26}$/),
    fc.stringMatching(/^[0-9A-Za-z]{12}[ -~]{2}[0-9A-Za-z]{12}$/),
    fc.string({ unit: 'binary', minLength: 26, maxLength: 26 }),
  )
  fc.assert(
    fc.property(tails, (text) => {
      const body = `svc_live_${text}`
      const secret = body + checksumByTheBook(body)
      assert.equal(isWellFormed(secret, format), /^[0-9A-Za-z]{26}$/.test(text))
    }),
  )
})

test('a secret of another label or literal is refused, even where one begins like the other', () => {
  fc.assert(
    fc.property(secrets, formats, ({ format, secret }, other) => {
      // Of every installation, test keys have the label `test`.
      const isKnown = format.env === other.env || format.env === 'test'
      const same = format.literal === other.literal && isKnown
      assert.equal(isWellFormed(secret, other), same)
    }),
  )
})

test('the prefix shows eight characters of the tail and no more', () => {
  fc.assert(
    fc.property(secrets, ({ format, secret }) => {
      const prefix = prefixOf(secret)
      assert.ok(secret.startsWith(prefix))
      assert.equal(prefix.length, format.literal.length + format.env.length + 2 + 8)
    }),
  )
})

test('what is stored is the SHA-256 of the whole secret', () => {
  const secret = newSecret({ literal: 'svc', env: 'live' })
  assert.equal(hashOf(secret), createHash('sha256').update(secret).digest('base64url'))
})

test('all 62 characters are equally likely, and no two secrets are alike', () => {
  const format = { literal: 'svc', env: 'live' }
  const made = Array.from({ length: 4000 }, () => newSecret(format))
  assert.equal(new Set(made).size, made.length)
  const counts = new Map<string, number>()
  for (const secret of made) {
    for (const character of secret.slice(9, -6)) counts.set(character, (counts.get(character) ?? 0) + 1)
  }
  const expected = (made.length * 26) / 62
  const squares = [...BASE62].map((character) => ((counts.get(character) ?? 0) - expected) ** 2 / expected)
  // Chi-squared with 61 degrees of freedom: over 160 once in 10^10 runs; a plain `byte % 62` gives some 700.
  assert.ok(squares.reduce((sum, square) => sum + square, 0) < 160)
})
