import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { lacks } from '../../../scripts/test-run/needs.ts'
import type { Geometry } from '../feature.ts'
import { SourceError } from '../source-error.ts'
import { geometryArbitrary } from './geometry-arbitrary.ts'
import { readWkt, wktSrid, writeWkt } from './wkt.ts'

test('every geometry that is written reads back the same', () => {
  fc.assert(
    fc.property(geometryArbitrary(), (geometry) => {
      // WKT does not keep a negative zero; everything else is exact.
      assert.deepEqual(readWkt(writeWkt(geometry)), JSON.parse(JSON.stringify(geometry)))
    }),
    { numRuns: 500 },
  )
})

test('the usual spellings are read: EWKT, joined Z and M, any case and space, both forms of MULTIPOINT', () => {
  const cases: [string, Geometry][] = [
    ['POINT(1 2)', { type: 'Point', coordinates: [1, 2] }],
    ['  point  ( 1   2 ) ', { type: 'Point', coordinates: [1, 2] }],
    ['SRID=25832;POINT(1e3 -2.5E-1)', { type: 'Point', coordinates: [1000, -0.25] }],
    ['POINT Z (1 2 3)', { type: 'Point', coordinates: [1, 2, 3] }],
    ['POINTZ(1 2 3)', { type: 'Point', coordinates: [1, 2, 3] }],
    ['POINT(1 2 3)', { type: 'Point', coordinates: [1, 2, 3] }],
    ['POINT M (1 2 9)', { type: 'Point', coordinates: [1, 2] }],
    ['POINTM(1 2 9)', { type: 'Point', coordinates: [1, 2] }],
    ['POINT ZM (1 2 3 9)', { type: 'Point', coordinates: [1, 2, 3] }],
    ['POINT(1 2 3 9)', { type: 'Point', coordinates: [1, 2, 3] }],
    ['POINT EMPTY', { type: 'Point', coordinates: [] }],
    ['POINT Z EMPTY', { type: 'Point', coordinates: [] }],
    ['POINT(nan nan)', { type: 'Point', coordinates: [] }],
    [
      'MULTIPOINT(1 2,3 4)',
      {
        type: 'MultiPoint',
        coordinates: [
          [1, 2],
          [3, 4],
        ],
      },
    ],
    ['MULTIPOINT((1 2),EMPTY,(3 4))', { type: 'MultiPoint', coordinates: [[1, 2], [], [3, 4]] }],
    ['POLYGON EMPTY', { type: 'Polygon', coordinates: [] }],
    ['MULTIPOLYGON(EMPTY)', { type: 'MultiPolygon', coordinates: [[]] }],
    [
      'GEOMETRYCOLLECTION Z (POINT Z (1 2 3),GEOMETRYCOLLECTION EMPTY)',
      {
        type: 'GeometryCollection',
        geometries: [
          { type: 'Point', coordinates: [1, 2, 3] },
          { type: 'GeometryCollection', geometries: [] },
        ],
      },
    ],
  ]
  for (const [text, geometry] of cases) assert.deepEqual(readWkt(text), geometry, text)
  assert.equal(wktSrid('srid = 25832; POINT(1 2)'), 25832)
  assert.equal(wktSrid('POINT(1 2)'), null)
})

test('what is not WKT is refused with the place and what was expected', () => {
  const cases: [string, RegExp][] = [
    ['', /the WKT ends where a geometry type is expected/],
    ['POINT', /the WKT ends where "\(" is expected/],
    ['POINT(1)', /has "\)" at character 8 where a number is expected/],
    ['POINT(1 b)', /has "b\)" at character 9 where a number/],
    ['POINT(1 2', /the WKT ends where "\)"/],
    ['POINT(1 2) and more', /where the end is expected/],
    ['POINT(1 2 3 4 5)', /where "\)" is expected/],
    ['CIRCULARSTRING(0 0,1 1)', /circular string has 2 positions; it needs three/],
    ['CURVEPOLYGON(POLYGON((0 0,1 1,2 0,0 0)))', /type POLYGON is not known/],
    ['CURVE(0 0,1 1)', /type CURVE is not known/],
    ['COMPOUNDCURVE('.repeat(100), /nested more than 64 deep/],
    ['GEOMETRYCOLLECTION('.repeat(100), /nested more than 64 deep/],
  ]
  for (const [text, message] of cases) {
    assert.throws(
      () => readWkt(text),
      (error: Error) => error instanceof SourceError && message.test(error.message),
      text,
    )
  }
})

test('GDAL reads what we write as the same geometry', { skip: lacks('gdal') }, (t) => {
  const geometries: Geometry[] = [
    { type: 'Point', coordinates: [1.5, -2.25] },
    {
      type: 'LineString',
      coordinates: [
        [0, 0, 5],
        [1, 1, 6],
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
          [3, 2],
          [3, 1],
          [2, 1],
        ],
      ],
    },
    {
      type: 'MultiPoint',
      coordinates: [
        [0, 0],
        [2, 3],
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
        [
          [
            [20, 0],
            [29, 0],
            [29, 9],
            [20, 0],
          ],
        ],
      ],
    },
    { type: 'GeometryCollection', geometries: [{ type: 'Point', coordinates: [1, 2] }] },
  ]
  const csv = `id,WKT\n${geometries.map((geometry, i) => `${i},"${writeWkt(geometry)}"`).join('\n')}\n`
  const folder = mkdtempSync(join(tmpdir(), 'wkt-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'geometries.csv')
  writeFileSync(file, csv)
  const answer = execFileSync('ogr2ogr', ['-f', 'GeoJSONSeq', '/vsistdout/', file], { encoding: 'utf8' })
  const read = answer
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).geometry)
  assert.deepEqual(read, geometries)
})
