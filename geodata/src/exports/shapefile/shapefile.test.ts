import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import fc from 'fast-check'
import { openPromise } from 'yauzl'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { ExportError } from '../../export-error.ts'
import { compileFeatures, temporaryFolder } from '../testing/compiled-fixture.ts'
import { NASTY_FEATURES } from '../testing/nasty-features.ts'
import { cutText, fieldNames } from './fields.ts'
import { writeShapefile } from './write-shapefile.ts'

/** The files of an archive, by name. */
async function readZip(path: string): Promise<Map<string, Buffer>> {
  const zip = await openPromise(path, { lazyEntries: true, autoClose: false })
  const files = new Map<string, Buffer>()
  for await (const entry of zip.eachEntry())
    files.set(entry.fileName, await buffer(await zip.openReadStreamPromise(entry)))
  zip.close()
  return files
}

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

test('a layer beyond the limit of 2 GB is in several parts, which have all features, and the notes say so', async (t) => {
  const root = await temporaryFolder((remove) => t.after(remove))
  const points = Array.from({ length: 40 }, (_, n) => ({
    type: 'Feature' as const,
    id: n,
    geometry: { type: 'Point' as const, coordinates: [n, n / 2] },
    properties: { n },
  }))
  const { folder, manifest } = await compileFeatures(join(root, 'snapshot'), points)
  const limit = 500
  await writeShapefile(folder, manifest, join(root, 'out'), { table: 'points' }, limit)
  const files = await readZip(join(root, 'out'))
  const names = [...files.keys()].filter((name) => name.endsWith('.shp'))
  assert.ok(names.length > 2)
  assert.deepEqual(
    names,
    names.map((_, i) => `points_${i + 1}.shp`),
  )
  let records = 0
  for (const [name, bytes] of files) {
    if (/\.(shp|shx|dbf)$/.test(name)) assert.ok(bytes.length <= limit, name)
    if (name.endsWith('.shx')) records += (bytes.length - 100) / 8
    if (name.endsWith('.shp')) assert.equal(bytes.readInt32BE(24) * 2, bytes.length)
    // The records of the attributes and of the shapes are as many.
    if (name.endsWith('.dbf'))
      assert.equal(bytes.readUInt32LE(4), (files.get(name.replace('.dbf', '.shx'))!.length - 100) / 8)
  }
  assert.equal(records, 40)
  assert.match(files.get('points_fields.txt')!.toString(), /2 GB.*\n {2}points: points_1, points_2,/)
})

test('a feature beyond the limit of 2 GB is refused in a sentence, and nothing is left', {
  skip: lacks('time'),
}, async (t) => {
  const root = await temporaryFolder((remove) => t.after(remove))
  const { folder, manifest } = await compileFeatures(join(root, 'snapshot'), NASTY_FEATURES)
  await assert.rejects(
    writeShapefile(folder, manifest, join(root, 'out'), { table: 'nasty' }, 700),
    (error) =>
      error instanceof ExportError && error.code === 'shapefile-too-large' && /2 GB/.test(error.message),
  )
  assert.deepEqual(await readdir(root), ['snapshot'])
})
