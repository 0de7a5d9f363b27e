import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readDecimal } from '../../decimal.ts'
import { kindOfTextBytes } from './text-kinds.ts'
import { KIND, kindOfText } from './value-kinds.ts'

const text = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'0123456789.-+eE '), minLength: 1, maxLength: 24 }),
  fc.string({ unit: fc.constantFrom(...'019-:TZ .+'), minLength: 10, maxLength: 22 }),
  fc.string({ unit: 'grapheme', minLength: 1 }),
  fc.double().map(String),
  fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map(String),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString().replace(/\.\d+Z$/, 'Z')),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString().slice(0, 10)),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString().slice(0, 10).replaceAll('-', '/')),
  fc.date({ noInvalidDate: true }).map((date) =>
    date
      .toISOString()
      .replace(/\.\d+Z$/, 'Z')
      .replaceAll('-', '/'),
  ),
  fc.constantFrom(
    'true',
    'FALSE',
    'True',
    'truth',
    '-',
    '.',
    '-0',
    '-.5',
    '0.0',
    '00',
    '1e400',
    '2020-02-30',
    '2020/02/30',
    '2020/02-01',
    '2020-02/01',
  ),
  fc.constantFrom(
    '0001-01-01T00:00:00Z',
    '9999-12-01T00:00:00Z',
    '2020-01-01 10:00:00Z',
    '2020-01-29T24:00:00Z',
  ),
)

/** Finer than a microsecond, only zeros are a time. */
const TIME = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d):(\d\d)(?:\.\d{1,6}0{0,3})?(Z|\+00)?)?$/

test('days and times are known, and only those that exist', () => {
  const digits = (width: number, max: number) =>
    fc.nat(max).map((value) => String(value).padStart(width, '0'))
  const day = fc.tuple(digits(4, 9999), digits(2, 13), digits(2, 32)).map((parts) => parts.join('-'))
  const clock = fc.tuple(digits(2, 25), digits(2, 61), digits(2, 61)).map((parts) => parts.join(':'))
  const zoned = fc.tuple(
    fc.constantFrom('T', ' ', 't', ''),
    clock,
    fc.constantFrom('', '.000', '.5', '.123456', '.1234560', '.1234567', '.1234560000', '.', '.1a'),
    fc.constantFrom('', 'Z', '+00', '+0', 'z'),
  )
  const any = fc.tuple(day, fc.oneof(fc.constant(['']), zoned)).map(([date, rest]) => date + rest.join(''))
  fc.assert(
    fc.property(any, (value) => {
      const parts = TIME.exec(value)
        ?.slice(1, 7)
        .map((part) => Number(part ?? 0))
      const [year, month, date, hour, minute, second] = parts ?? []
      const real = parts && new Date(Date.UTC(2000 + (year! % 400), month! - 1, date!))
      const exists =
        real && year! > 0 && real.getUTCMonth() === month! - 1 && real.getUTCDate() === date && hour! < 24
      const isTime = value.length > 10
      const isWithin = !isTime || (minute! < 60 && second! < 60)
      const kind = exists && isWithin ? (isTime ? KIND.timestamp : KIND.date) : KIND.text
      assert.equal(kindOfText(value), kind, value)
    }),
    { numRuns: 20_000 },
  )
})

test('times with slashes are those that are times with hyphens', () => {
  const digits = (width: number, max: number) => fc.nat(max).map((n) => String(n).padStart(width, '0'))
  const day = fc.tuple(digits(4, 9999), digits(2, 13), digits(2, 32))
  const clock = fc.constantFrom(
    '',
    ' 22:24:54',
    'T22:24:54.123+05:30',
    ' 22:24:54+00',
    ' 25:00:00',
    ' 22:24Z',
  )
  fc.assert(
    fc.property(day, clock, (parts, time) => {
      const plain = kindOfText(parts.join('-') + time)
      const slashed = kindOfText(parts.join('/') + time)
      if (plain !== KIND.text) assert.equal(slashed, plain | KIND.slashed)
      else assert.ok(slashed === KIND.text || slashed === KIND.writtenDate)
    }),
    { numRuns: 5000 },
  )
})

test('a text has the same kind in its bytes', () => {
  fc.assert(
    fc.property(text, fc.nat(9), (value, before) => {
      const bytes = Buffer.from(`${'7'.repeat(before)}${value}7`)
      const end = bytes.length - 1
      assert.equal(kindOfTextBytes(bytes, before, end), kindOfText(value), value)
    }),
    { numRuns: 20_000 },
  )
})

test('plain digits are read as JavaScript reads them, and nothing else is', () => {
  fc.assert(
    fc.property(text, (value) => {
      const bytes = Buffer.from(value)
      const isPlain = /^-?\d+(\.\d+)?$/.test(value) && value.replace(/[-.]/g, '').length <= 15
      assert.ok(Object.is(readDecimal(bytes, 0, bytes.length), isPlain ? Number(value) : NaN), value)
    }),
    { numRuns: 20_000 },
  )
})

test('a time is one if it is within the years 1 to 9999 in UTC too', () => {
  const kinds: [string, number][] = [
    ['0001-01-01T00:00:00Z', KIND.timestamp],
    ['0001-01-01T01:30:00+01:30', KIND.timestamp],
    ['0001-01-01T01:30:00+01:31', KIND.text],
    ['0001-01-01T01:30:00-10:00', KIND.timestamp],
    ['0001-01-02T00:00:00+15:00', KIND.timestamp],
    ['9999-12-31T23:59:59Z', KIND.timestamp],
    ['9999-12-31T23:59:59.999999', KIND.timestamp],
    ['9999-12-31T22:29:59-01:30', KIND.timestamp],
    ['9999-12-31T22:30:00-01:30', KIND.text],
    ['9999-12-31T23:59:59+02', KIND.timestamp],
    ['9999-12-30T23:59:59-15:00', KIND.timestamp],
  ]
  for (const [text, kind] of kinds) assert.equal(kindOfText(text), kind, text)
})
