import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { ExportError } from '../../export-error.ts'
import { compileFeatures, temporaryFolder } from '../testing/compiled-fixture.ts'
import { NASTY_FEATURES } from '../testing/nasty-features.ts'
import { cutText, fieldNames } from './fields.ts'
import { writeShapefile } from './write-shapefile.ts'

test('field names have at most ten bytes and are unique whatever their case', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('population_a', 'Population_B'))),
      (names) => {
        const fields = fieldNames(names)
        assert.equal(new Set(fields.map((name) => name.toLowerCase())).size, names.length)
        for (const field of fields) assert.ok(Buffer.byteLength(field) <= 10 && field !== '')
      },
    ),
  )
})

test('names that fit are kept, and truncated names avoid them', () => {
  assert.deepEqual(
    fieldNames(['population_2010', 'population_2011', 'populati_1', 'population', 'POPULATION']),
    ['populati_2', 'populati_3', 'populati_1', 'population', 'POPULATI_4'],
  )
})

test('a text is cut between characters, never inside one', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (text, bytes) => {
      const cut = cutText(text, bytes)
      assert.ok(text.startsWith(cut) && Buffer.byteLength(cut) <= bytes)
    }),
  )
})

test('a dataset beyond the limit of 2 GB is refused in a sentence, and nothing is left', {
  skip: lacks('time'),
}, async (t) => {
  const root = await temporaryFolder((remove) => t.after(remove))
  const { folder, manifest } = await compileFeatures(join(root, 'snapshot'), NASTY_FEATURES)
  await assert.rejects(
    writeShapefile(folder, manifest, join(root, 'out'), { table: 'nasty' }, 2000),
    (error) =>
      error instanceof ExportError && error.code === 'shapefile-too-large' && /2 GB/.test(error.message),
  )
  assert.deepEqual(await readdir(root), ['snapshot'])
})
