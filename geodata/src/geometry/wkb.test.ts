import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import fc from 'fast-check'
import { lacks } from '../../../scripts/test-run/needs.ts'
import type { Geometry } from '../feature.ts'
import { SourceError } from '../source-error.ts'
import { geometryArbitrary } from './geometry-arbitrary.ts'
import { hasZ, readWkb, wkbSize, wkbSrid, writeWkb, writeWkbInto } from './wkb.ts'

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')

test('every geometry that is written reads back the same', () => {
  fc.assert(
    fc.property(geometryArbitrary(), (geometry) => {
      const bytes = writeWkb(geometry)
      assert.equal(bytes.length, wkbSize(geometry))
      assert.deepEqual(readWkb(bytes), geometry)
    }),
    { numRuns: 500 },
  )
})

test('geometries written one after another into one buffer are found at their offsets', () => {
  fc.assert(
    fc.property(fc.array(geometryArbitrary(), { maxLength: 5 }), (geometries) => {
      const size = geometries.reduce((sum, geometry) => sum + wkbSize(geometry), 0)
      const bytes = new Uint8Array(size)
      const view = new DataView(bytes.buffer)
      const offsets: number[] = []
      let offset = 0
      for (const geometry of geometries) {
        offsets.push(offset)
        offset = writeWkbInto(geometry, view, offset)
      }
      assert.equal(offset, size)
      geometries.forEach((geometry, i) => {
        assert.deepEqual(readWkb(bytes, offsets[i]), geometry)
      })
    }),
  )
})

test('both byte orders, ISO and EWKB types, SRID, Z and M are read, and M is dropped', () => {
  const point: Geometry = { type: 'Point', coordinates: [1, 2] }
  const high: Geometry = { type: 'Point', coordinates: [1, 2, 3] }
  const [one, two, three, four] = [
    '3ff0000000000000',
    '4000000000000000',
    '4008000000000000',
    '4010000000000000',
  ]
  const little = (big: string) => Buffer.from(big, 'hex').reverse().toString('hex')
  const cases: [string, Geometry][] = [
    [`00 00000001 ${one} ${two}`, point],
    [`01 01000000 ${little(one!)} ${little(two!)}`, point],
    [`00 000003e9 ${one} ${two} ${three}`, high],
    [`00 000007d1 ${one} ${two} ${four}`, point],
    [`00 00000bb9 ${one} ${two} ${three} ${four}`, high],
    [`00 80000001 ${one} ${two} ${three}`, high],
    [`00 40000001 ${one} ${two} ${four}`, point],
    [`00 c0000001 ${one} ${two} ${three} ${four}`, high],
    [`00 a0000001 000010e6 ${one} ${two} ${three}`, high],
    [`00 20000001 000010e6 ${one} ${two}`, point],
    [`00 00000001 7ff8000000000000 7ff8000000000000`, { type: 'Point', coordinates: [] }],
    [
      `00 00000007 00000002 00 00000001 ${one} ${two} 01 e9030000 ${little(one!)} ${little(two!)} ${little(three!)}`,
      { type: 'GeometryCollection', geometries: [point, high] },
    ],
  ]
  for (const [bytes, geometry] of cases) assert.deepEqual(readWkb(hex(bytes)), geometry)
  assert.equal(wkbSrid(hex(`00 20000001 000010e6 ${one} ${two}`)), 4326)
  assert.equal(wkbSrid(hex(`00 00000001 ${one} ${two}`)), null)
})

test('a position without a height among others that have one is written with height 0', () => {
  const mixed: Geometry = {
    type: 'LineString',
    coordinates: [
      [1, 2, 3],
      [4, 5],
    ],
  }
  assert.equal(hasZ(mixed), true)
  assert.deepEqual(readWkb(writeWkb(mixed)), {
    type: 'LineString',
    coordinates: [
      [1, 2, 3],
      [4, 5, 0],
    ],
  })
})

test('broken bytes are refused with a sentence, never read past their end', () => {
  const whole = writeWkb({
    type: 'MultiPolygon',
    coordinates: [
      [
        [
          [0, 0],
          [1, 0],
          [1, 1],
          [0, 0],
        ],
      ],
    ],
  })
  for (let length = 0; length < whole.length; length++) {
    assert.throws(() => readWkb(whole.subarray(0, length)), SourceError)
  }
  const cases: [string, RegExp][] = [
    ['01 02000000 ffffffff', /ends too early/],
    ['07 01000000', /byte order is 7/],
    [`01 08000000 02000000 ${'00'.repeat(32)}`, /circular string has 2 positions; it needs three/],
    ['01 0c000000 01000000 01 02000000 00000000', /unknown WKB type 2/],
    [`${'01 09000000 01000000 '.repeat(100)}01 09000000 00000000`, /nested more than 64 deep/],
    ['01 63000000 00000000', /unknown WKB type 99/],
    ['01 05000000 01000000 01 01000000 00000000', /WKB type 1 where only 2/],
    [`${'01 07000000 01000000 '.repeat(100)}01 07000000 00000000`, /nested more than 64 deep/],
  ]
  for (const [bytes, message] of cases) {
    assert.throws(
      () => readWkb(hex(bytes)),
      (error: Error) => error instanceof SourceError && message.test(error.message),
    )
  }
})

test('GDAL writes the same bytes for the same geometries', { skip: lacks('gdal') }, () => {
  const geometries: Geometry[] = [
    { type: 'Point', coordinates: [1.5, -2.25] },
    { type: 'Point', coordinates: [1.5, -2.25, 7] },
    {
      type: 'LineString',
      coordinates: [
        [0, 0],
        [1, 1],
      ],
    },
    {
      type: 'Polygon',
      coordinates: [
        [
          [0, 0],
          [9, 0],
          [9, 9],
          [0, 0],
        ],
        [
          [2, 1],
          [3, 1],
          [3, 2],
          [2, 1],
        ],
      ],
    },
    {
      type: 'MultiPoint',
      coordinates: [
        [0, 0, 1],
        [2, 3, 4],
      ],
    },
    {
      type: 'MultiLineString',
      coordinates: [
        [
          [0, 0],
          [1, 1],
        ],
        [
          [5, 5],
          [6, 6],
        ],
      ],
    },
    {
      type: 'MultiPolygon',
      coordinates: [
        [
          [
            [0, 0],
            [9, 0],
            [9, 9],
            [0, 0],
          ],
        ],
      ],
    },
    {
      type: 'GeometryCollection',
      geometries: [
        { type: 'Point', coordinates: [1, 2] },
        {
          type: 'LineString',
          coordinates: [
            [0, 0],
            [1, 1],
          ],
        },
      ],
    },
  ]
  const collection = {
    type: 'FeatureCollection',
    features: geometries.map((geometry) => ({ type: 'Feature', properties: {}, geometry })),
  }
  const sql = 'SELECT hex(ST_AsBinary(geometry)) AS wkb FROM collection'
  const answer = execFileSync(
    'ogr2ogr',
    ['-f', 'CSV', '/vsistdout/', '/vsistdin/', '-nln', 'collection', '-dialect', 'SQLite', '-sql', sql],
    { input: JSON.stringify({ name: 'collection', ...collection }), encoding: 'utf8' },
  )
  const rows = answer
    .trim()
    .split('\n')
    .slice(1)
    .map((row) => row.replaceAll('"', ''))
  assert.deepEqual(
    rows,
    geometries.map((geometry) => writeWkb(geometry).toString('hex').toUpperCase()),
  )
})
