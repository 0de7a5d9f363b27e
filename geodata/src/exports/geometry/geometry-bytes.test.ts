import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Geometry, Position } from '../../feature.ts'
import { geometryArbitrary } from '../../geometry/geometry-arbitrary.ts'
import { readWkb } from '../../geometry/wkb.ts'
import { readWkt } from '../../geometry/wkt.ts'
import { FlatGeometry } from './flat-geometry.ts'
import { parseNumber } from './geometry-bytes.ts'
import { putWkb, wkbBound } from './wkb-bytes.ts'
import { WktWriter } from './wkt-writer.ts'

/** Compiling removes empty members, so a pack has none. */
const packed = geometryArbitrary().map(withoutEmptyMembers)

test('a number is parsed to the very double that JSON.parse makes of it', () => {
  const texts = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.double({ noNaN: true, min: -1000, max: 1000 }).map(String),
    fc.constantFrom('1e5', '-2E-7', '1.5e3', '12345678901234e5'),
    // Halfway between two doubles, and one digit away from that.
    fc.integer({ min: 2 ** 52, max: 2 ** 53 - 1 }).map((n) => `${BigInt(n) * 2n + 1n}`),
    fc
      .integer({ min: 2 ** 52, max: 2 ** 53 - 1 })
      .map((n) => `${(BigInt(n) * 2n + 1n) * 5n}`.replace(/.$/, '.$&')),
    fc.tuple(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }), fc.nat(18)).map(([digits, point]) => {
      const text = String(digits < 0n ? -digits : digits).padStart(point + 1, '0')
      const whole = text.slice(0, text.length - point)
      return `${digits < 0n ? '-' : ''}${whole}${point > 0 ? `.${text.slice(text.length - point)}` : ''}`
    }),
  )
  fc.assert(
    fc.property(texts, (text) => {
      const bytes = Buffer.from(`[${text}]`)
      assert.ok(Object.is(parseNumber(bytes, 1, bytes.length - 1), JSON.parse(text)), text)
      const point = Buffer.from(`{"type":"Point","coordinates":[${text},${text}]}`)
      const flat = new FlatGeometry()
      flat.read(point, 0)
      assert.ok(Object.is(flat.xy[0], JSON.parse(text)) && Object.is(flat.xy[1], JSON.parse(text)), text)
      assert.equal(flat.end, point.length)
    }),
    { numRuns: 2000 },
  )
})

test('the WKT made of a geometry’s bytes is read back as the same geometry', () => {
  fc.assert(
    fc.property(packed, (geometry) => {
      const bytes = Buffer.from(JSON.stringify(geometry))
      const out = Buffer.alloc(bytes.length * 2)
      const end = new WktWriter(true).put(bytes, 0, bytes.length, out, 0)
      assert.deepEqual(readWkt(out.toString('utf8', 0, end)), positive(geometry))
    }),
  )
})

test('the WKB made of a geometry’s bytes is read back as the same geometry, within its bound', () => {
  fc.assert(
    fc.property(packed, (geometry) => {
      const bytes = Buffer.from(JSON.stringify(geometry))
      const flat = new FlatGeometry()
      flat.read(bytes, 0)
      const out = new Uint8Array(wkbBound(flat))
      const end = putWkb(flat, flat.hasZ, new DataView(out.buffer), 0)
      assert.ok(end <= out.length)
      assert.deepEqual(readWkb(out.subarray(0, end)), positive(geometry))
    }),
  )
})

/** JSON.stringify does not preserve -0. */
function positive(geometry: Geometry): Geometry {
  return JSON.parse(JSON.stringify(geometry)) as Geometry
}

function withoutEmptyMembers(geometry: Geometry): Geometry {
  const full = <T extends unknown[]>(list: T[]) => list.filter((member) => member.length > 0)
  const rings = (polygon: Position[][]) => full(polygon)
  switch (geometry.type) {
    case 'MultiPoint':
      return { ...geometry, coordinates: full(geometry.coordinates) }
    case 'MultiLineString':
    case 'Polygon':
      return { ...geometry, coordinates: full(geometry.coordinates) }
    case 'MultiPolygon':
      return { ...geometry, coordinates: full(geometry.coordinates.map(rings)) }
    case 'GeometryCollection':
      return { ...geometry, geometries: geometry.geometries.map(withoutEmptyMembers) }
    default:
      return geometry
  }
}
