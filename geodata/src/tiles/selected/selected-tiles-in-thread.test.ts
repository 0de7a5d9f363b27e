import assert from 'node:assert/strict'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { collection, compileText, feature } from '../../compile/compile-fixture.ts'
import { PositionBits } from '../../pack/position-bits.ts'
import { SNAPSHOT_FILES } from '../../snapshot/manifest.ts'
import { SelectedTilesInThread } from './selected-tiles-in-thread.ts'

const WHOLE_WORLD = { z: 0, x: 0, y: 0 }

async function pointsSnapshot() {
  const points = [1, 2, 3].map((n) => feature({ n }, { type: 'Point', coordinates: [n * 10, n * 5] }, n))
  const { folder, manifest } = await compileText(collection(points))
  const positions = PositionBits.empty(manifest.rows)
  positions.addRun(0, manifest.rows)
  const selected = { tile: WHOLE_WORLD, positions: positions.bytes, isDeepest: true }
  return { snapshot: { folder, table: 'points', manifest }, selected }
}

test('a snapshot that was opened in advance gives the same tile without its index being read again', async () => {
  const { snapshot, selected } = await pointsSnapshot()
  const [opened, other] = [new SelectedTilesInThread(), new SelectedTilesInThread()]
  try {
    const expected = await other.encode(snapshot, selected)
    assert.ok(expected.length > 0)
    await opened.open(snapshot, false)
    const index = join(snapshot.folder, SNAPSHOT_FILES.index)
    await rename(index, `${index}.gone`)
    assert.deepEqual(await opened.encode(snapshot, selected), expected)
  } finally {
    await Promise.all([opened.close(), other.close()])
  }
})

test('a snapshot that cannot be opened in advance is reported by the tile that needs it', async () => {
  const { snapshot, selected } = await pointsSnapshot()
  const index = join(snapshot.folder, SNAPSHOT_FILES.index)
  await rename(index, `${index}.gone`)
  const thread = new SelectedTilesInThread()
  try {
    await thread.open(snapshot, false)
    await assert.rejects(thread.encode(snapshot, selected), /features\.index/)
    await rename(`${index}.gone`, index)
    assert.ok((await thread.encode(snapshot, selected)).length > 0)
  } finally {
    await thread.close()
  }
})
