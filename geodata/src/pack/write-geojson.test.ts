import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { validGeometryArbitrary } from '../compile/valid-geometry-arbitrary.ts'
import { geometryText } from '../geometry/geometry-text.ts'
import { hasZ } from '../geometry/wkb.ts'
import { ColumnBytes } from './column-bytes.ts'
import { writeGeojson } from './write-geojson.ts'

function speltBy(write: (bytes: ColumnBytes) => void): string {
  const bytes = new ColumnBytes(8)
  const start = bytes.beginText()
  write(bytes)
  bytes.endText(start)
  return Buffer.from(bytes.bytes().subarray(4)).toString('latin1')
}

test('a number is spelt as JavaScript spells it', () => {
  const spelt = (value: number) => speltBy((bytes) => bytes.number(value))
  const decimals = fc.integer({ min: 0, max: 12 }).chain((places) => {
    return fc.integer({ min: -180_000_000, max: 180_000_000 }).map((n) => n / 10 ** places)
  })
  const degrees = fc.double({ min: -180, max: 180, noNaN: true }).map((x) => Math.round(x * 1e9) / 1e9)
  const any = fc.double({ noNaN: true, noDefaultInfinity: true })
  fc.assert(
    fc.property(fc.oneof(decimals, degrees, any), (value) => {
      assert.equal(spelt(value), String(value))
    }),
    { numRuns: 5000 },
  )
  for (const value of [
    0, -0, 1, -1, 180, -180, 0.1, 1e-6, 9.99e-7, 1e-9, 999999.999999999, 1e6, 1e21, 123456.789,
  ])
    assert.equal(spelt(value), String(value))
})

test('an integer is spelt as JavaScript spells it', () => {
  const edges = fc.constantFrom(0, 9, 10, 99, 100, -1, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), 2 ** 53 - 1, 1e21)
  fc.assert(
    fc.property(fc.oneof(edges, fc.nat(), fc.maxSafeInteger()), (value) => {
      assert.equal(
        speltBy((bytes) => bytes.integer(value)),
        String(value),
      )
    }),
  )
})

test('a geometry is written as its text is, however it outgrows the buffer', () => {
  fc.assert(
    fc.property(validGeometryArbitrary(), (geometry) => {
      const bytes = new ColumnBytes(1)
      assert.equal(writeGeojson(geometry, bytes), hasZ(geometry))
      const text = geometryText(geometry)
      assert.equal(Buffer.from(bytes.bytes().subarray(4)).toString('latin1'), text)
      assert.equal(Buffer.from(bytes.bytes()).readUInt32LE(0), text.length)
    }),
  )
})
