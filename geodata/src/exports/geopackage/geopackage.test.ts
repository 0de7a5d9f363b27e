import assert from 'node:assert/strict'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { buildExport } from '../index.ts'
import { compileFeatures, type FixtureFeature, temporaryFolder } from '../testing/compiled-fixture.ts'
import { readIdOrder, readPackById } from './pack-by-id.ts'
import { RtreeBuilder } from './rtree.ts'

test('SQLite finds the packed R-tree sound, and a search in it finds what a search of all finds', () => {
  for (const count of [0, 1, 51, 52, 2601, 2602, 6000]) {
    const database = new DatabaseSync(':memory:')
    database.enableDefensive(false)
    const rtree = new RtreeBuilder(database, 'tree', count)
    const boxes = Array.from({ length: count }, (_, i) => {
      const [west, south] = [Math.sin(i) * 180, Math.cos(i * 7) * 90]
      return { west, south, east: west + (i % 3) / 10, north: south + (i % 5) / 10 }
    })
    for (const [i, { west, east, south, north }] of boxes.entries())
      rtree.set(i, i + 1, west, east, south, north)
    rtree.finish(null)
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
  const boxes = database.prepare(
    `SELECT count(*) AS n FROM rtree_rows_geom AS tree JOIN rows ON fid = tree.id WHERE geom IS NOT NULL`,
  )
  assert.equal(boxes.get()!['n'], expected.filter(({ bare }) => bare === 0).length)
  database.close()
})

test('features are read in the order of their ids, from as many scratch files as needed', async (t) => {
  const root = await temporaryFolder((remove) => t.after(remove))
  const { folder, manifest } = await compileFeatures(join(root, 'snapshot'), withIds(700))
  const order = await readIdOrder(folder, manifest)
  const scratch = join(root, 'scratch')
  for (const partBytes of [1, 500, 10_000, 1 << 20]) {
    const ids: number[] = []
    for await (const block of readPackById(folder, manifest, order!, { scratch, partBytes })) {
      for (let i = 0; i < block.count; i++)
        ids.push(JSON.parse(block.bytes.toString('utf8', block.starts[i]!, block.ends[i]!)).id)
    }
    assert.deepEqual(
      ids,
      Array.from({ length: 700 }, (_, i) => i * 3 - 500),
      `${partBytes}`,
    )
    assert.equal(existsSync(scratch), false)
  }
  const ordered = await compileFeatures(
    join(root, 'ordered'),
    [3, 5, 9].map((id) => ({ id, properties: { n: id } })),
  )
  assert.equal(await readIdOrder(ordered.folder, ordered.manifest), null)
})
