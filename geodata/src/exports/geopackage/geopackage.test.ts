import assert from 'node:assert/strict'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import fc from 'fast-check'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { buildExport } from '../index.ts'
import { compileFeatures, type FixtureFeature, temporaryFolder } from '../testing/compiled-fixture.ts'
import { createRtree, RtreeBuilder } from './rtree.ts'
import { sortPositions } from './sort-positions.ts'
import { SortedRows } from './sorted-rows.ts'
import { PageFile } from './sqlite/page-file.ts'

test('SQLite finds the packed R-tree sound, and a search in it finds what a search of all finds', async (t) => {
  const root = await temporaryFolder((remove) => t.after(remove))
  for (const count of [0, 1, 51, 52, 2601, 2602, 6000]) {
    const path = join(root, String(count))
    const creating = new DatabaseSync(path)
    const roots = createRtree(creating, 'tree')
    creating.close()
    const rtree = new RtreeBuilder(count)
    const boxes = Array.from({ length: count }, (_, i) => {
      const [west, south] = [Math.sin(i) * 180, Math.cos(i * 7) * 90]
      const id = (((i * 7919) % count) - 50) * 2 ** 33
      return { id, west, south, east: west + (i % 3) / 10, north: south + (i % 5) / 10 }
    })
    for (const { id, west, east, south, north } of boxes) rtree.add(id, west, east, south, north)
    const file = new PageFile(path)
    rtree.write(file, roots)
    file.close()

    const database = new DatabaseSync(path, { readOnly: true })
    assert.equal(database.prepare("SELECT rtreecheck('tree') AS result").get()!['result'], 'ok')
    assert.equal(database.prepare('PRAGMA integrity_check').get()!['integrity_check'], 'ok')
    const hits = database.prepare(
      'SELECT id FROM tree WHERE maxx >= 10 AND minx <= 40 AND maxy >= -5 AND miny <= 30 ORDER BY id',
    )
    const ids = new Set(hits.all().map((row) => row['id']))
    for (const { id, west, east, south, north } of boxes) {
      // Boxes in the tree are rounded outwards: they may hit what the exact ones miss, but never the reverse.
      if (east >= 10 && west <= 40 && north >= -5 && south <= 30) assert.ok(ids.has(id))
    }
    assert.equal(database.prepare('SELECT count(*) AS n FROM tree').get()!['n'], count)
    database.close()
  }
})

test('columns named like the file’s own keep their names', { skip: lacks('time') }, async (t) => {
  const root = await temporaryFolder((remove) => t.after(remove))
  const features: FixtureFeature[] = [
    {
      geometry: { type: 'Point', coordinates: [1, 2] },
      properties: { fid: 'x', GEOM: 'y', at: '2024-01-01T00:00:00.5Z' },
    },
  ]
  const { folder } = await compileFeatures(join(root, 'snapshot'), features)
  await buildExport(folder, 'gpkg', join(root, 'out.gpkg'), { table: 'rows' })
  const database = new DatabaseSync(join(root, 'out.gpkg'), { readOnly: true })
  const row = database.prepare('SELECT * FROM rows').get()!
  assert.deepEqual(Object.keys(row), ['fid_1', 'geom_1', 'fid', 'GEOM', 'at'])
  assert.equal(row['at'], '2024-01-01T00:00:00.500Z')
  assert.equal(database.prepare('PRAGMA application_id').get()!['application_id'], 0x47504b47)
  assert.deepEqual(database.prepare('PRAGMA foreign_key_check').all(), [])
  database.close()
})

/** Points all over the world with unordered integer ids; every seventh has no geometry. */
function withIds(count: number): FixtureFeature[] {
  return Array.from({ length: count }, (_, i) => ({
    id: ((i * 7919) % count) * 3 - 500,
    geometry: i % 7 === 0 ? null : { type: 'Point', coordinates: [Math.sin(i) * 180, Math.cos(i * 3) * 90] },
    properties: { name: `${i} `.repeat(1 + (i % 20)) },
  }))
}

test('a file with ids of its own is as dense as one with row numbers, and its R-tree is sound', async (t) => {
  const root = await temporaryFolder((remove) => t.after(remove))
  const features = withIds(5000)
  const build = async (name: string, source: FixtureFeature[]) => {
    const { folder } = await compileFeatures(join(root, name), source)
    await buildExport(folder, 'gpkg', join(root, `${name}.gpkg`), { table: 'rows' })
    return join(root, `${name}.gpkg`)
  }
  const path = await build('ids', features)
  const plain = await build(
    'plain',
    features.map(({ id, ...feature }) => ({ ...feature, properties: { id: id!, ...feature.properties } })),
  )
  // Rows in random order leave the pages of the B-tree two thirds full.
  const ratio = statSync(path).size / statSync(plain).size
  assert.ok(ratio < 1.05, `${ratio} times as large`)

  const database = new DatabaseSync(path, { readOnly: true })
  assert.equal(database.prepare("SELECT rtreecheck('rtree_rows_geom') AS result").get()!['result'], 'ok')
  assert.equal(database.prepare('PRAGMA integrity_check').get()!['integrity_check'], 'ok')
  const rows = database.prepare('SELECT fid, name, geom IS NULL AS bare FROM rows ORDER BY fid').all()
  const expected = features
    .map(({ id, geometry, properties }) => ({ fid: id, name: properties['name'], bare: geometry ? 0 : 1 }))
    .sort((a, b) => Number(a.fid) - Number(b.fid))
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    expected,
  )
  const sequence = database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'rows'").get()!
  assert.equal(sequence['seq'], 4999 * 3 - 500)
  const boxes = database.prepare(
    `SELECT count(*) AS n FROM rtree_rows_geom AS tree JOIN rows ON fid = tree.id WHERE geom IS NOT NULL`,
  )
  assert.equal(boxes.get()!['n'], expected.filter(({ bare }) => bare === 0).length)
  database.close()
})

test('rows come in the order of their ids, from as many runs as needed', async (t) => {
  const root = await temporaryFolder((remove) => t.after(remove))
  const scratch = join(root, 'scratch')
  const ids = Array.from({ length: 700 }, (_, i) => ((i * 7919) % 700) * 2 ** 20 - 2 ** 29)
  for (const runBytes of [100, 1000, 10_000, 1 << 20]) {
    const rows = new SortedRows(scratch, ids.length, runBytes)
    for (const id of ids) {
      const bytes = Buffer.from(`-${id} `.repeat(1 + (Math.abs(id) % 7)))
      rows.add(id, bytes, 1, bytes.length)
    }
    const found: number[] = []
    rows.each((id, bytes, start, end) => {
      assert.equal(bytes.toString('latin1', start, end), `-${id} `.repeat(1 + (Math.abs(id) % 7)).slice(1))
      found.push(id)
    })
    rows.close()
    assert.deepEqual(
      found,
      ids.toSorted((a, b) => a - b),
      `${runBytes}`,
    )
    assert.equal(existsSync(scratch), false)
  }
})

test('positions are sorted by integers of any size', () => {
  const integers = fc.oneof(fc.integer(), fc.maxSafeInteger(), fc.constantFrom(-(2 ** 53), 2 ** 53, 0))
  fc.assert(
    fc.property(fc.array(integers), (values) => {
      const sorted = Array.from(sortPositions(Float64Array.from(values), 0, values.length))
      const expected = [...values.keys()].sort((a, b) => values[a]! - values[b]!)
      assert.deepEqual(sorted, expected)
    }),
  )
})
