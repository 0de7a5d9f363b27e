import assert from 'node:assert/strict'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { collection, compileText, feature } from '../../compile/compile-fixture.ts'
import { PositionBits } from '../../pack/position-bits.ts'
import { SNAPSHOT_FILES } from '../../snapshot/manifest.ts'
import { openSnapshot } from '../../snapshot/open.ts'
import { tileSnapshotOf } from './tile-snapshot.ts'
import { TileThreads } from './tile-threads.ts'

const WHOLE_WORLD = { z: 0, x: 0, y: 0 }

async function pointsSnapshot() {
  const points = [1, 2, 3].map((n) => feature({ n }, { type: 'Point', coordinates: [n * 10, n * 5] }, n))
  const { folder, manifest } = await compileText(collection(points))
  const positions = PositionBits.empty(manifest.rows)
  positions.addRun(0, manifest.rows)
  const selected = { tile: WHOLE_WORLD, positions: positions.bytes, isDeepest: true }
  const opened = await openSnapshot(folder)
  await opened.close()
  return { snapshot: await tileSnapshotOf(opened, 'points'), selected }
}

test('all threads make the same tiles, of more snapshots than each keeps open', async () => {
  const threads = new TileThreads(2)
  try {
    const snapshots: Awaited<ReturnType<typeof pointsSnapshot>>[] = []
    for (let i = 0; i < 6; i++) snapshots.push(await pointsSnapshot())
    const twice = [...snapshots, ...snapshots]
    const made = await Promise.all(twice.map(({ snapshot, selected }) => threads.encode(snapshot, selected)))
    assert.ok(made[0]!.length > 0)
    for (const tile of made) assert.deepEqual(tile, made[0])
  } finally {
    await threads.close()
  }
})

test('a tile whose client left while it waited is not made', async () => {
  const { snapshot, selected } = await pointsSnapshot()
  const threads = new TileThreads(1)
  try {
    const client = new AbortController()
    const first = threads.encode(snapshot, selected)
    const left = threads.encode(snapshot, selected, { signal: client.signal })
    const last = threads.encode(snapshot, selected)
    client.abort(new Error('gone'))
    await assert.rejects(left, /gone/)
    assert.deepEqual(await last, await first)
    await assert.rejects(threads.encode(snapshot, selected, { signal: client.signal }), /gone/)
  } finally {
    await threads.close()
  }
})

test('a snapshot that a thread cannot open is tried again by the next tile', async () => {
  const { snapshot, selected } = await pointsSnapshot()
  const pack = join(snapshot.folder, SNAPSHOT_FILES.pack)
  const threads = new TileThreads(1)
  try {
    await rename(pack, `${pack}.gone`)
    await assert.rejects(threads.encode(snapshot, selected), /features\.pack/)
    await rename(`${pack}.gone`, pack)
    assert.ok((await threads.encode(snapshot, selected)).length > 0)
  } finally {
    await threads.close()
  }
})
