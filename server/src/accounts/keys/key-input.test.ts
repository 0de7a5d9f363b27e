import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NewKey } from '@wayleave/contract/records'
import fc from 'fast-check'
import { Problem } from '../../base/problem.ts'
import { checkKeyChange, checkNewKey } from './key-input.ts'

const now = new Date('2026-11-15T12:00:00.000Z')
const sound: NewKey = { name: 'Map', permissions: ['read'] }

/** The paths of the reported errors; empty if there is no error. */
function refused(work: () => unknown): string[] {
  try {
    work()
    return []
  } catch (error) {
    assert.ok(error instanceof Problem)
    assert.equal(error.status, 400)
    return error.errors!.map(({ path }) => path)
  }
}

test('a name is trimmed, and has 1 to 100 characters as people count them', () => {
  assert.equal(checkNewKey({ ...sound, name: '  Map \n' }, 'user', now).name, 'Map')
  assert.equal(checkNewKey({ ...sound, name: '🗺'.repeat(100) }, 'user', now).name, '🗺'.repeat(100))
  const wrong = [
    '',
    '   ',
    '\n',
    'x'.repeat(101),
    '🗺'.repeat(101),
    'a\u0000b',
    'a\nb',
    'a\ud800b',
    'a\u2028b',
  ]
  for (const name of wrong) {
    assert.deepEqual(
      refused(() => checkNewKey({ ...sound, name }, 'user', now)),
      ['/name'],
    )
  }
})

test('permissions are a set of read and write, each for all datasets or for one', () => {
  const given = ['read', 'write', 'read:parcels', 'read', 'write:a_1', 'read:parcels']
  assert.deepEqual(checkNewKey({ ...sound, permissions: given }, 'user', now).permissions, [
    'read',
    'write',
    'read:parcels',
    'write:a_1',
  ])
  assert.deepEqual(
    refused(() => checkNewKey({ ...sound, permissions: [] }, 'user', now)),
    ['/permissions'],
  )
  const wrong = [
    '',
    'admin',
    'Read',
    'read ',
    ' read',
    'read:',
    'read:Parcels',
    'read:1st',
    'read:*',
    'read:a:b',
    'read\n',
    `read:${'a'.repeat(64)}`,
  ]
  for (const permission of wrong) {
    const permissions = ['read', permission]
    assert.deepEqual(
      refused(() => checkNewKey({ ...sound, permissions }, 'user', now)),
      ['/permissions/1'],
      permission,
    )
  }
})

test('an expiry is a timestamp with a zone, in the future, kept in UTC', () => {
  const accepted: [given: string, kept: string][] = [
    ['2026-11-15T12:00:00.001Z', '2026-11-15T12:00:00.001Z'],
    ['2030-01-31T00:00:00Z', '2030-01-31T00:00:00.000Z'],
    ['2030-01-31T00:00Z', '2030-01-31T00:00:00.000Z'],
    ['2030-01-31T00:00:00+02:00', '2030-01-30T22:00:00.000Z'],
    ['2030-01-31T00:00:00.123456789-05:30', '2030-01-31T05:30:00.123Z'],
    ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000Z'],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59.000Z'],
  ]
  for (const [expiresAt, kept] of accepted) {
    assert.equal(checkNewKey({ ...sound, expiresAt }, 'user', now).expiresAt, kept)
  }
  const wrong = [
    '',
    'tomorrow',
    '2030',
    '2030-01-31',
    '2030-01-31T00:00:00',
    '2030-01-31 00:00:00Z',
    '2030-13-01T00:00:00Z',
    '2030-02-30T00:00:00Z',
    '2027-02-29T00:00:00Z',
    '2030-01-31T24:00:00Z',
    '2030-01-31T00:60:00Z',
    '2030-01-31T00:00:60Z',
    '2030-01-31T00:00:00+25:00',
    '2030-01-31T00:00:00+0200',
    '20300131T000000Z',
    '9999-12-31T23:59:59-01:00',
    '+012030-01-31T00:00:00Z',
    ' 2030-01-31T00:00:00Z',
    '1893456000',
    'Thu, 31 Jan 2030 00:00:00 GMT',
    '2026-11-15T12:00:00.000Z',
    '2026-11-15T11:59:59Z',
    '0000-01-01T00:00:00Z',
  ]
  for (const expiresAt of wrong) {
    assert.deepEqual(
      refused(() => checkNewKey({ ...sound, expiresAt }, 'user', now)),
      ['/expiresAt'],
      expiresAt,
    )
  }
})

test('whatever instant a client writes, in whatever zone, is kept as that instant', () => {
  const zones = fc.integer({ min: -14 * 60, max: 14 * 60 })
  const instants = fc.date({ min: new Date('2026-11-16'), max: new Date('9999-12-30'), noInvalidDate: true })
  fc.assert(
    fc.property(instants, zones, (instant, zone) => {
      const local = new Date(instant.getTime() + zone * 60_000).toISOString().slice(0, -1)
      const sign = zone < 0 ? '-' : '+'
      const [hours, minutes] = [Math.floor(Math.abs(zone) / 60), Math.abs(zone) % 60]
      const offset = `${sign}${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`
      assert.equal(
        checkNewKey({ ...sound, expiresAt: local + offset }, 'user', now).expiresAt,
        instant.toISOString(),
      )
    }),
  )
})

test('all that is wrong is named at once', () => {
  const given = { name: '', permissions: ['fly'], expiresAt: 'soon' }
  assert.deepEqual(
    refused(() => checkNewKey(given, 'user', now)),
    ['/name', '/permissions/0', '/expiresAt'],
  )
})

const USER = { scope: 'user', isTest: false } as const

test('a change names at least one field, leaves the others, and null removes the expiry', () => {
  assert.deepEqual(checkKeyChange({ name: ' New ' }, USER, now), { name: 'New' })
  assert.deepEqual(checkKeyChange({ expiresAt: null }, USER, now), { expiresAt: null })
  assert.deepEqual(checkKeyChange({ permissions: ['read', 'read'] }, USER, now), { permissions: ['read'] })
  assert.deepEqual(
    refused(() => checkKeyChange({}, USER, now)),
    ['body'],
  )
})
