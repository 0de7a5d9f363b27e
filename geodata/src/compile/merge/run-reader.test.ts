import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { cases } from '../../../../scripts/test-run/needs.ts'
import { hilbertKey, UNLOCATED_KEY } from '../../hilbert.ts'
import { scratch } from '../compile-fixture.ts'
import { RunWriter } from '../stage/run-writer.ts'
import { StagedPlaces } from '../stage/staged-places.ts'
import { RunReader } from './run-reader.ts'

const ROWS = 40
const row = fc.record({
  // Few places, so that many keys are equal.
  place: fc.option(fc.tuple(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -3, max: 3 }))),
  id: fc.string({ unit: 'grapheme-ascii', maxLength: 5 }),
  // Some records are larger than the read buffer.
  properties: fc.oneof({ weight: 20, arbitrary: fc.nat(300) }, fc.integer({ min: 250_000, max: 600_000 })),
})
const runs = fc.array(fc.array(row, { minLength: 1, maxLength: ROWS }), { maxLength: 6 })
let serial = 0

test('runs are read as one, in the order of key and row, whatever the size of their records', () => {
  fc.assert(
    fc.property(runs, (all) => {
      const writers = [0, 1].map(() => new RunWriter(join(scratch, `${++serial}.runs`)))
      const expected: { key: number; row: number; text: string }[] = []
      for (const [i, rows] of all.entries()) {
        const places = new StagedPlaces(ROWS)
        for (const { place } of rows) places.add(place && { type: 'Point', coordinates: place })
        const numbers = rows.map((_, j) => i * ROWS + j + 1)
        writers[i % 2]!.write(numbers, places, {
          id: (index, out) => out.ascii(rows[index]!.id),
          properties: (index, out) => out.ascii(String(index % 10).repeat(rows[index]!.properties)),
        })
        for (const [j, { place, id, properties }] of rows.entries()) {
          const geometry = place ? JSON.stringify({ type: 'Point', coordinates: place }) : 'null'
          expected.push({
            key: place ? hilbertKey(...place) : UNLOCATED_KEY,
            row: numbers[j]!,
            text: `${id},"geometry":${geometry}${String(j % 10).repeat(properties)}`,
          })
        }
      }
      for (const writer of writers) writer.finish()
      expected.sort((a, b) => a.key - b.key || a.row - b.row)
      const reader = new RunReader(writers.flatMap((writer) => writer.runs))
      for (const wanted of expected) {
        const cursor = reader.first()!
        assert.deepEqual([cursor.key, cursor.row], [wanted.key, wanted.row])
        assert.equal(cursor.id - cursor.box, wanted.key === UNLOCATED_KEY ? 0 : 16)
        assert.ok(cursor.bytes.toString('utf8', cursor.id, cursor.end) === wanted.text, `row ${wanted.row}`)
        reader.advance()
      }
      assert.equal(reader.first(), null)
      reader.close()
    }),
    { numRuns: cases(100) },
  )
})
