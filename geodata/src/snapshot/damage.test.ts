import assert from 'node:assert/strict'
import { readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { collection, compileText, feature } from '../compile/compile-fixture.ts'
import { PackCache } from '../pack/pack-cache.ts'
import { CHECKED_BLOCK_BYTES, readBlockChecksums } from './block-checksums.ts'
import { DamagedSnapshotError } from './damaged-snapshot-error.ts'
import { openSnapshot } from './open.ts'
import { readManifest } from './read-manifest.ts'
import { checkSizes, verifyFile, verifyFilesFast, verifySnapshot } from './verify.ts'

const isDamage = (file: string, message = /./) => {
  return (error: unknown) =>
    error instanceof DamagedSnapshotError && error.file === file && message.test(error.message)
}

/** A snapshot whose pack has several blocks, and which has all files. */
async function compileBlocks() {
  const line = {
    type: 'LineString',
    coordinates: [
      [0, 0],
      [1, 1],
    ],
  }
  const features = Array.from({ length: 3000 }, (_, i) =>
    feature(
      { i, text: 'x'.repeat(300) },
      i === 0 ? line : { type: 'Point', coordinates: [i % 180, i % 90] },
      i,
    ),
  )
  return compileText(collection(features))
}

async function flipByte(path: string, at: number): Promise<void> {
  const bytes = await readFile(path)
  bytes[at]! ^= 1
  await writeFile(path, bytes)
}

test('every file of a snapshot is in the manifest, and every block of the large ones has a checksum', async () => {
  const { folder, manifest } = await compileBlocks()
  assert.deepEqual(Object.keys(manifest.files).sort(), [
    'checksums.json',
    'features.index',
    'features.pack',
    'points.parquet',
    'rows.columns',
    'rows.parquet',
    'sample.json',
  ])
  const checksums = (await readBlockChecksums(folder, manifest))!
  for (const name of ['features.index', 'features.pack', 'points.parquet', 'rows.columns', 'rows.parquet']) {
    const blocks = Math.ceil(manifest.files[name]!.bytes / CHECKED_BLOCK_BYTES)
    assert.equal(checksums.get(name)!.length, blocks, name)
  }
  assert.ok(checksums.get('features.pack')!.length > 2)
  assert.deepEqual(await readManifest(folder), manifest)
})

test('a file that a power cut left empty is noticed by its size', async () => {
  const { folder, manifest } = await compileBlocks()
  await checkSizes(folder, manifest)
  for (const name of Object.keys(manifest.files)) {
    const bytes = await readFile(join(folder, name))
    await truncate(join(folder, name), 0)
    await assert.rejects(checkSizes(folder, manifest), isDamage(name, /has 0 bytes instead of/), name)
    await rm(join(folder, name))
    await assert.rejects(checkSizes(folder, manifest), isDamage(name, /is missing/), name)
    await writeFile(join(folder, name), bytes)
  }
  await checkSizes(folder, manifest)
})

test('a flipped byte is found in every file, by SHA-256 and by block checksums', async () => {
  const { folder, manifest } = await compileBlocks()
  for (const [name, { bytes }] of Object.entries(manifest.files)) {
    for (const at of new Set([0, bytes >> 1, bytes - 1])) {
      await flipByte(join(folder, name), at)
      await assert.rejects(verifyFile(folder, manifest, name), isDamage(name), `${name} ${at}`)
      await assert.rejects(verifyFilesFast(folder, manifest, [name]), isDamage(name), `${name} ${at}`)
      assert.equal((await verifySnapshot(folder)).length, 1, `${name} ${at}`)
      await flipByte(join(folder, name), at)
    }
    await verifyFile(folder, manifest, name)
    await verifyFilesFast(folder, manifest, [name])
  }
})

for (const [title, makeCache] of [
  ['without a cache', () => null],
  ['with a cache', () => new PackCache(1 << 24)],
] as const) {
  test(`a damaged block of the pack is never returned, other blocks are, ${title}`, async () => {
    const { folder, manifest, features } = await compileBlocks()
    await flipByte(join(folder, 'features.pack'), CHECKED_BLOCK_BYTES + 7)
    const snapshot = await openSnapshot(folder, makeCache(), manifest)
    try {
      const first = await snapshot.readPack(0, 1)
      assert.deepEqual(JSON.parse(first.toString('utf8')), features[0])
      const last = await snapshot.readPack(manifest.rows - 1, manifest.rows)
      assert.deepEqual(JSON.parse(last.toString('utf8')), features.at(-1))
      const { offsets } = await snapshot.wholeIndex()
      const damaged = offsets.findIndex((offset) => offset > CHECKED_BLOCK_BYTES)
      // The checksum covers the whole block, so undamaged features in the same block are rejected too.
      for (const position of [damaged, damaged + 10]) {
        await assert.rejects(snapshot.readPack(position, position + 1), isDamage('features.pack', /262144/))
      }
      await assert.rejects(snapshot.readPack(0, manifest.rows), isDamage('features.pack'))
    } finally {
      await snapshot.close()
    }
  })
}

test('a damaged index is not opened, with or without block checksums', async () => {
  const { folder, manifest } = await compileBlocks()
  const { 'checksums.json': _, ...files } = manifest.files
  const older = { ...manifest, files }
  await (await openSnapshot(folder, null, older)).close()
  const path = join(folder, 'features.index')
  for (const at of [3, 2000, manifest.files['features.index']!.bytes - 1]) {
    await flipByte(path, at)
    await assert.rejects(openSnapshot(folder, null, manifest), isDamage('features.index'))
    await assert.rejects(openSnapshot(folder, null, older), isDamage('features.index'))
    await flipByte(path, at)
  }
  for (const size of [0, 10]) {
    await truncate(path, size)
    await assert.rejects(openSnapshot(folder, null, manifest), isDamage('features.index'))
  }
})

test('a snapshot without block checksums is read as before', async () => {
  const { folder, manifest, features } = await compileBlocks()
  const { 'checksums.json': _, ...files } = manifest.files
  await rm(join(folder, 'checksums.json'))
  const older = { ...manifest, files }
  assert.equal(await readBlockChecksums(folder, older), null)
  await verifyFilesFast(folder, older, ['features.pack', 'rows.parquet'])
  const snapshot = await openSnapshot(folder, null, older)
  assert.deepEqual(JSON.parse((await snapshot.readPack(1500, 1501)).toString('utf8')), features[1500])
  await snapshot.close()
})

test('a manifest of another format is refused with a sentence that says what to do', async () => {
  const { folder, manifest } = await compileText(collection([feature({ a: 1 })]))
  await writeFile(join(folder, 'manifest.json'), JSON.stringify({ ...manifest, formatVersion: 2 }))
  const refusal = isDamage('manifest.json', /has format 2, and this program reads format 1\. Run the version/)
  await assert.rejects(readManifest(folder), refusal)
  assert.equal((await verifySnapshot(folder)).length, 1)
})

test('a manifest that is missing, cut off or has a wrong member is reported as damage', async () => {
  const { folder, manifest } = await compileText(collection([feature({ a: 1 })]))
  const path = join(folder, 'manifest.json')
  const text = await readFile(path, 'utf8')
  const cases: [string, RegExp][] = [
    ['', /is empty/],
    [text.slice(0, text.length >> 1), /is not complete JSON/],
    ['[]', /is not a JSON object/],
    ['{}', /"formatVersion"/],
    [JSON.stringify({ ...manifest, rows: -1 }), /"rows"/],
    [JSON.stringify({ ...manifest, located: 2 }), /more features with a place/],
    [JSON.stringify({ ...manifest, columns: [{ name: 'a', type: 'colour', nullable: true }] }), /"columns"/],
    [JSON.stringify({ ...manifest, bbox: [1, 2, 3] }), /"bbox"/],
    [JSON.stringify({ ...manifest, files: {} }), /does not name rows\.parquet/],
    [
      JSON.stringify({ ...manifest, files: { '../secret': { bytes: 1, sha256: '0'.repeat(64) } } }),
      /"files"/,
    ],
  ]
  for (const [damaged, sentence] of cases) {
    await writeFile(path, damaged)
    await assert.rejects(readManifest(folder), isDamage('manifest.json', sentence), damaged.slice(0, 60))
  }
  await rm(path)
  await assert.rejects(readManifest(folder), isDamage('manifest.json', /is missing/))
})
