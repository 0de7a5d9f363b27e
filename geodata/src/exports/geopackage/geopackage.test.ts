import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { buildExport } from '../index.ts'
import { compileFeatures, type FixtureFeature, temporaryFolder } from '../testing/compiled-fixture.ts'
import { RtreeBuilder } from './rtree.ts'

test('SQLite finds the packed R-tree sound, and a search in it finds what a search of all finds', () => {
  for (const count of [0, 1, 51, 52, 2601, 2602, 6000]) {
    const database = new DatabaseSync(':memory:')
    database.enableDefensive(false)
    const rtree = new RtreeBuilder(database, 'tree')
    const boxes = Array.from({ length: count }, (_, i) => {
      const [west, south] = [Math.sin(i) * 180, Math.cos(i * 7) * 90]
      return { west, south, east: west + (i % 3) / 10, north: south + (i % 5) / 10 }
    })
    for (const [i, { west, east, south, north }] of boxes.entries())
      rtree.add(i + 1, west, east, south, north)
    rtree.finish()
    assert.equal(database.prepare("SELECT rtreecheck('tree') AS result").get()!['result'], 'ok')
    const found = database.prepare(
      'SELECT id FROM tree WHERE maxx >= 10 AND minx <= 40 AND maxy >= -5 AND miny <= 30 ORDER BY id',
    )
    const ids = new Set(found.all().map((row) => row['id']))
    for (const [i, { west, east, south, north }] of boxes.entries()) {
      // Boxes in the tree are rounded outwards: they may hit what the exact ones miss, but never the reverse.
      if (east >= 10 && west <= 40 && north >= -5 && south <= 30) assert.ok(ids.has(i + 1))
    }
    assert.ok(ids.size <= count)
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
