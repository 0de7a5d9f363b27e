import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { HOUR } from '../../base/clock.ts'
import { Problem } from '../../base/problem.ts'
import { openOgc, point } from '../testing/open-ogc.ts'
import { Cursors } from './cursor.ts'
import { hash64 } from './hash64.ts'

const BYTES = 18
const cursors = new Cursors(Buffer.alloc(32, 1).toString('base64url'))

const anyCursor = fc
  .tuple(fc.integer({ min: 1, max: 2 ** 47 }), fc.integer({ min: 0, max: 2 ** 32 - 1 }))
  .map(([version, position]) => ({ version, position }))

test('a cursor says what was put into it, with its own table and selection alone', () => {
  fc.assert(
    fc.property(anyCursor, fc.string(), fc.string(), fc.string(), (cursor, table, selection, other) => {
      const text = cursors.write(cursor, table, selection)
      assert.match(text, /^[\w-]{24}$/)
      assert.deepEqual(cursors.read(text, table, selection), cursor)
      if (other !== selection) assert.throws(() => cursors.read(text, table, other), Problem)
      if (other !== table) assert.throws(() => cursors.read(text, other, selection), Problem)
      // The texts have the same characters, divided in another place.
      if (selection !== '') {
        assert.throws(() => cursors.read(text, table + selection[0], selection.slice(1)), Problem)
      }
    }),
  )
})

test('the signature is the beginning of an HMAC-SHA256', () => {
  fc.assert(
    fc.property(fc.base64String({ maxLength: 64 }), fc.string({ maxLength: 300 }), (secret, selection) => {
      const text = new Cursors(secret).write({ version: 3, position: 7 }, 'places', selection)
      const message = JSON.stringify([3, 7, 'places', selection])
      const hmac = createHmac('sha256', secret).update(message).digest()
      assert.equal(
        text,
        Buffer.from([0, 0, 0, 0, 0, 3, 0, 0, 0, 7, ...hmac.subarray(0, 8)]).toString('base64url'),
      )
    }),
  )
  for (const secret of ['x'.repeat(65), 'ä']) assert.throws(() => new Cursors(secret))
})

test('another secret, a changed byte or a longer query make another signature', () => {
  const other = new Cursors(Buffer.alloc(32, 2).toString('base64url'))
  fc.assert(
    fc.property(anyCursor, fc.string({ maxLength: 3000 }), fc.nat(BYTES - 1), (cursor, query, place) => {
      const text = cursors.write(cursor, 'places', query)
      assert.throws(() => other.read(text, 'places', query), Problem)
      assert.throws(() => cursors.read(text, 'places', `${query}\u0000`), Problem)
      const bytes = Buffer.from(text, 'base64url')
      bytes[place]! ^= 1
      assert.throws(() => cursors.read(bytes.toString('base64url'), 'places', query), Problem)
    }),
  )
})

test('a query of any length is bound to its cursors', () => {
  for (const length of [2041, 2042, 2043, 5000, 262_144]) {
    const cursor = { version: 3, position: 7 }
    const selection = 'x'.repeat(length)
    const text = cursors.write(cursor, 'places', selection)
    assert.deepEqual(cursors.read(text, 'places', selection), cursor)
    for (const [table, other] of [
      ['places', `${selection}x`],
      ['places', `${selection.slice(1)}y`],
      ['placesx', selection.slice(1)],
      ['others', selection],
    ] as const) {
      assert.throws(() => cursors.read(text, table, other), Problem, `${length} ${table}`)
    }
  }
})

test('a cursor with any character changed is refused', () => {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  fc.assert(
    fc.property(anyCursor, fc.nat(23), fc.constantFrom(...letters), (cursor, at, letter) => {
      const text = cursors.write(cursor, 'places', 'q')
      const changed = text.slice(0, at) + letter + text.slice(at + 1)
      if (changed !== text) assert.throws(() => cursors.read(changed, 'places', 'q'), Problem)
    }),
  )
})

/** A cursor as anybody can make it: with the unkeyed checksum that cursors had before they were signed. */
function forgedCursor(version: number, position: number, query: string): string {
  const bytes = Buffer.alloc(18)
  bytes.writeUIntBE(version, 0, 6)
  bytes.writeUInt32BE(position, 6)
  const [high, low] = hash64(query, version, position)
  bytes.writeUInt32BE(high, 10)
  bytes.writeUInt32BE(low, 14)
  return bytes.toString('base64url')
}

test('a forged cursor, or one of another installation, opens no replaced version', async (t) => {
  const service = await openOgc(t)
  await service.publish('places', [point(1, 1, { n: 1 }), point(2, 2, { n: 2 })])
  await service.publish('places', [point(3, 3, { n: 3 }), point(4, 4, { n: 4 })])
  // The selection of a query without parameters is empty.
  for (const cursor of [
    forgedCursor(1, 0, 'places\n'),
    forgedCursor(2, 0, 'places\n'),
    cursors.write({ version: 1, position: 0 }, 'places', ''),
  ]) {
    const refused = await service.get(`/collections/places/items?cursor=${cursor}`)
    assert.deepEqual([refused.status, refused.body.code], [400, 'invalid-cursor'], cursor)
  }
})

const cursorOf = (body: { links: { rel: string; href: string }[] }) =>
  /cursor=([\w-]+)/.exec(body.links.find(({ rel }) => rel === 'next')!.href)![1]!

test('a cursor serves its own query with any limit, CRS or encoding, and no other', async (t) => {
  const service = await openOgc(t)
  const features = Array.from({ length: 20 }, (_, i) => point(i, i, { n: i }))
  await service.publish('places', features)
  await service.publish('others', features)
  const path = '/collections/places/items?bbox=0,0,15,15'
  const cursor = cursorOf((await service.get(`${path}&limit=3`)).body)
  const rest = await service.get(`${path}&limit=100&cursor=${cursor}`)
  assert.equal(rest.body.numberReturned, 13)
  const there = await service.get(`${path}&limit=2&crs=EPSG:3857&properties=n&cursor=${cursor}`)
  assert.deepEqual(
    there.body.features.map(({ id }: { id: number }) => id),
    rest.body.features.slice(0, 2).map(({ id }: { id: number }) => id),
  )
  assert.equal((await service.fetch(`${path}&f=csv&cursor=${cursor}`)).status, 200)
  for (const other of [
    '/collections/places/items?bbox=0,0,15,16',
    '/collections/places/items',
    `${path}&filter=n>1`,
    `${path}&sortby=n`,
    `${path}&n=3`,
    '/collections/others/items?bbox=0,0,15,15',
  ]) {
    const refused = await service.get(`${other}${other.includes('?') ? '&' : '?'}cursor=${cursor}`)
    assert.deepEqual([refused.status, refused.body.code], [400, 'invalid-cursor'], other)
  }
  const both = await service.get(`${path}&cursor=${cursor}&offset=1`)
  assert.equal(both.status, 400)
})

test('a reading stays in the version it began in, for an hour after that was replaced', async (t) => {
  let now = Date.now()
  const service = await openOgc(t, { clock: () => new Date(now) })
  const publish = (n: number) =>
    service.publish(
      'places',
      Array.from({ length: 10 }, (_, i) => point(i, i, { n })),
    )
  await publish(1)
  for (const order of ['', '&sortby=-n', '&filter=n>0']) {
    await publish(1)
    const path = `/collections/places/items?limit=4${order}`
    const first = await service.get(path)
    const next = `${path}&cursor=${cursorOf(first.body)}`
    await publish(2)
    const second = await service.get(next)
    assert.deepEqual(
      second.body.features.map(({ properties }: { properties: { n: number } }) => properties.n),
      [1, 1, 1, 1],
    )
    now += HOUR + 1000
    const late = await service.get(next)
    assert.deepEqual([late.status, late.body.code], [400, 'invalid-cursor'])
  }
})
