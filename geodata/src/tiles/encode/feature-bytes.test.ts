import assert from 'node:assert/strict'
import { test } from 'node:test'
import { collection, compileText, feature } from '../../compile/compile-fixture.ts'
import { CHECKED_BLOCK_BYTES } from '../../snapshot/block-checksums.ts'
import { DamagedSnapshotError } from '../../snapshot/damaged-snapshot-error.ts'
import { SNAPSHOT_FILES } from '../../snapshot/manifest.ts'
import { openSnapshot } from '../../snapshot/open.ts'
import { LocalFile } from '../../snapshot/sync-file.ts'
import { PackFile, packOffsets } from './feature-bytes.ts'

/** Features of up to 600 KB, which begin and end anywhere in blocks of 256 KB. */
const SIZES = [10, 300_000, 5, 200_000, 61_000, 600_000, 1, 90_000, 262_144, 17]

async function largeFeatures() {
  const features = SIZES.map((size, n) =>
    feature({ text: 'abcdefghij'[n]!.repeat(size) }, { type: 'Point', coordinates: [n, n] }, n + 1),
  )
  const { folder } = await compileText(collection(features))
  const snapshot = await openSnapshot(folder)
  const { offsets } = await snapshot.wholeIndex()
  const expected: string[] = []
  for (let i = 0; i < SIZES.length; i++) expected.push((await snapshot.readPack(i, i + 1)).toString())
  await snapshot.close()
  return { folder, offsets, checksums: snapshot.packBlocks!, expected }
}

test('features are read by blocks of any size, of which any number is kept', async () => {
  const { folder, offsets, checksums, expected } = await largeFeatures()
  for (const blockBytes of [CHECKED_BLOCK_BYTES, 4 * CHECKED_BLOCK_BYTES]) {
    for (const maxBlocks of [1, 3, 100]) {
      const options = { checksums, blockBytes, maxBlocks }
      const pack = new PackFile(new LocalFile(folder, SNAPSHOT_FILES.pack), packOffsets(offsets), options)
      for (const position of [...expected.keys(), ...expected.keys()]) {
        pack.seek(position)
        assert.ok(pack.bytes.toString('utf8', pack.start, pack.end) === expected[position], `${position}`)
      }
      pack.close()
    }
  }
})

test('every block is compared with its own checksum', async () => {
  const { folder, offsets, checksums } = await largeFeatures()
  for (const damaged of checksums.keys()) {
    const other = checksums.map((checksum, block) => (block === damaged ? checksum + 1 : checksum))
    const options = { checksums: other, blockBytes: CHECKED_BLOCK_BYTES }
    const pack = new PackFile(new LocalFile(folder, SNAPSHOT_FILES.pack), packOffsets(offsets), options)
    const refused = SIZES.keys().filter((position) => {
      try {
        pack.seek(position)
        return false
      } catch (error) {
        assert.ok(error instanceof DamagedSnapshotError)
        return true
      }
    })
    const isInBlock = (position: number) =>
      Math.floor(offsets[position]! / CHECKED_BLOCK_BYTES) <= damaged &&
      Math.floor((offsets[position + 1]! - 3) / CHECKED_BLOCK_BYTES) >= damaged
    assert.deepEqual([...refused], [...SIZES.keys()].filter(isInBlock))
    pack.close()
  }
})
