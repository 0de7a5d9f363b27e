import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { cases } from '../../../../scripts/test-run/needs.ts'
import { collection, compileText, feature, scratch } from '../../compile/compile-fixture.ts'
import { readManifest } from '../../snapshot/read-manifest.ts'
import { folderFiles } from '../../snapshot/snapshot-files.ts'
import { polygon, square } from '../test-shapes.ts'
import { tileThreads } from './build-partitions.ts'
import { buildPart, joinParts, PARTITIONS_OF_PART, planParts, sharesOfParts } from './build-parts.ts'
import { buildTiles, type TileOptions } from './build-tiles.ts'
import { buildPartInChildProcess } from './build-tiles-in-child-process.ts'

let serial = 0

/** The archive of a snapshot, built with these options. */
async function archiveOf(folder: string, options: Partial<TileOptions>): Promise<Buffer> {
  const path = join(scratch, `partitions-${++serial}.pmtiles`)
  await buildTiles(folder, path, { table: 'bench', ...options })
  return readFile(path)
}

const point = (coordinates: number[]) => ({ type: 'Point', coordinates })

async function compile(features: unknown[]): Promise<string> {
  return (await compileText(collection(features))).folder
}

/** Everything in one partition, in this thread. */
const WHOLE = { partitionBytes: Infinity, threads: 1 }

test('points have the same tiles whatever the partitions are, also on their borders', async () => {
  // Longitudes of the borders of tiles, and places beside them that are rounded to them.
  const border = fc.tuple(fc.nat(16), fc.constantFrom(0, 1e-12, -1e-12, 1e-7)).map(([column, beside]) => {
    return Math.max(-180, Math.min(180, column * 22.5 - 180 + beside))
  })
  const longitude = fc.oneof(border, fc.double({ min: -180, max: 180, noNaN: true }))
  const latitude = fc.oneof(
    fc.constantFrom(0, 66.51326044311186, -85.0511287798066, 90),
    fc.double({ min: -90, max: 90, noNaN: true }),
  )
  const place = fc.oneof(fc.tuple(longitude, latitude), fc.constant<[number, number]>([8.5, 47.3]))
  await fc.assert(
    fc.asyncProperty(
      fc.array(place, { minLength: 50, maxLength: 300 }),
      fc.integer({ min: 100, max: 8000 }),
      async (places, partitionBytes) => {
        const folder = await compile(places.map((at, i) => feature({ n: i }, point(at), i + 1)))
        const whole = await archiveOf(folder, { ...WHOLE, maxZoom: 5 })
        const divided = await archiveOf(folder, { partitionBytes, threads: 1, maxZoom: 5 })
        assert.ok(divided.equals(whole))
      },
    ),
    { numRuns: cases(5) },
  )
})

test('a tile with more points than are held in memory is the same as from memory', async () => {
  const text = 'x'.repeat(4000)
  const at = (i: number) =>
    i % 5 === 0
      ? [((i * 137.508) % 360) - 180, ((i * 61.803) % 160) - 80]
      : [13 + (i % 71) / 70, 52 + (i % 67) / 70]
  const folder = await compile(Array.from({ length: 5500 }, (_, i) => feature({ text }, point(at(i)), i + 1)))
  // More than 16 MB at zoom 2, which is the deepest one and cannot show every point either.
  const whole = await archiveOf(folder, { ...WHOLE, maxZoom: 2 })
  const divided = await archiveOf(folder, { threads: 1, maxZoom: 2 })
  assert.ok(divided.equals(whole))
})

test('threads, and a build that goes on after it was aborted, make the same archive', async () => {
  const shapes = Array.from({ length: 1500 }, (_, i) => {
    const [west, south] = [((i * 137.5) % 340) - 170, ((i * 61.75) % 140) - 70]
    return feature(
      { name: `place ${i}` },
      i % 3 === 0 ? point([west, south]) : polygon(square(west, south, 2)),
      i + 1,
    )
  })
  const folder = await compile(shapes)
  const options = { partitionBytes: 20_000, maxZoom: 4 }
  const expected = await archiveOf(folder, { ...options, threads: 1 })
  assert.ok((await archiveOf(folder, { ...options, threads: 3 })).equals(expected))

  const path = join(scratch, 'continued.pmtiles')
  const partitions = join(scratch, '.continued.pmtiles.partitions')
  const finished = () => readdirSync(partitions).filter((name) => /^\d+$/.test(name)).length
  const stop = new AbortController()
  const abort = () => finished() >= 5 && stop.abort()
  const aborted = buildTiles(folder, path, {
    table: 'bench',
    ...options,
    threads: 1,
    signal: stop.signal,
    onProgress: abort,
  })
  await assert.rejects(aborted, { name: 'AbortError' })
  const kept = finished()
  assert.ok(kept >= 5)
  const progress: number[] = []
  let least = Infinity
  const onProgress = (share: number) => {
    progress.push(share)
    least = Math.min(least, finished())
  }
  await buildTiles(folder, path, { table: 'bench', ...options, threads: 2, onProgress })
  assert.ok(progress[0]! > 0)
  assert.ok(least >= kept)
  assert.ok((await readFile(path)).equals(expected))
  assert.ok(!existsSync(partitions))
})

test('parts that are built apart, in any order, are joined to the same archive', async () => {
  const shape = fc.tuple(fc.boolean(), fc.integer({ min: -170, max: 160 }), fc.integer({ min: -80, max: 70 }))
  await fc.assert(
    fc.asyncProperty(
      fc.array(shape, { minLength: 40, maxLength: 200 }),
      fc.boolean(),
      fc.integer({ min: 4000, max: 40_000 }),
      async (shapes, arePoints, partBytes) => {
        const features = shapes.map(([isPoint, x, y], i) =>
          feature({ n: i % 3 }, arePoints || isPoint ? point([x, y]) : polygon(square(x, y, 3)), i + 1),
        )
        const folder = await compile(features)
        const snapshot = { folder, manifest: await readManifest(folder), table: 'bench' }
        const file = (name: string) => join(scratch, `parts-${++serial}-${name}`)
        const planPath = file('plan')
        await planParts(snapshot, planPath, { maxZoom: 4, partBytes })
        const shares = sharesOfParts(planPath)
        assert.ok(Math.abs(shares.reduce((sum, share) => sum + share, 0) - 1) < 1e-9)
        const parts = shares.map((_, part) => file(String(part)))
        for (const part of [...shares.keys()].reverse())
          await buildPart(snapshot, { planPath, part, path: parts[part]! }, { threads: 1 })
        const path = file('archive')
        await joinParts(snapshot, { planPath, parts, path }, { table: 'bench' })
        // A polygon that is clipped to each tile above may begin at another corner, so the partitions are the same ones.
        const partitionBytes = partBytes / PARTITIONS_OF_PART
        const alone = await archiveOf(folder, { partitionBytes, threads: 1, maxZoom: 4 })
        assert.ok((await readFile(path)).equals(alone))
      },
    ),
    { numRuns: cases(5), endOnFailure: true },
  )
})

test('a process builds a part from files that another one reads, and fails as reading does', async () => {
  const folder = await compile(
    Array.from({ length: 400 }, (_, i) => feature({ n: i }, point([(i * 7.3) % 170, (i * 3.1) % 80]), i + 1)),
  )
  const manifest = await readManifest(folder)
  const planPath = join(scratch, 'remote-plan')
  await planParts({ folder, manifest, table: 'bench' }, planPath, { maxZoom: 4, partBytes: 20_000 })
  const parts = sharesOfParts(planPath).length
  assert.ok(parts > 2)
  const local = folderFiles(folder)
  const files = { ...local, isLocal: false, folder: '/nowhere' }
  for (const part of [0, parts - 1]) {
    const [here, there] = ['here', 'there'].map((name) => join(scratch, `remote-${part}-${name}`)) as [
      string,
      string,
    ]
    await buildPart({ folder, manifest, table: 'bench' }, { planPath, part, path: here })
    const order = { planPath, part, path: there, verify: false }
    await buildPartInChildProcess({ files, manifest, table: 'bench' }, order, {})
    assert.ok((await readFile(there)).equals(await readFile(here)))
  }
  const outage = new Error('the store does not respond')
  const failing = { ...files, open: async () => Promise.reject(outage) }
  const path = join(scratch, 'failed')
  const order = { planPath, part: 0, path, verify: false }
  await assert.rejects(
    buildPartInChildProcess({ files: failing, manifest, table: 'bench' }, order, {}),
    (error) => error === outage,
  )
  assert.ok(!readdirSync(scratch).some((name) => name.startsWith('failed')))
})

test('a container with little memory builds in few threads', () => {
  const megabytes = 1024 ** 2
  assert.deepEqual(
    [64, 1024, 4096, 65_536].map((memory) => tileThreads(64, memory * megabytes)),
    [1, 4, 16, 16],
  )
  assert.equal(tileThreads(2, 65_536 * megabytes), 2)
})

test('partitions of another build are not used', async () => {
  const folder = await compile([feature({ n: 1 }, point([1, 1]), 1), feature({ n: 2 }, point([100, 1]), 2)])
  const path = join(scratch, 'other.pmtiles')
  const stop = new AbortController()
  const first = buildTiles(folder, path, {
    table: 'first',
    partitionBytes: 10,
    threads: 1,
    maxZoom: 2,
    signal: stop.signal,
    onProgress: () => stop.abort(),
  })
  await assert.rejects(first, { name: 'AbortError' })
  await buildTiles(folder, path, { table: 'bench', partitionBytes: 10, threads: 1, maxZoom: 2 })
  assert.ok((await readFile(path)).equals(await archiveOf(folder, { ...WHOLE, maxZoom: 2 })))
})
