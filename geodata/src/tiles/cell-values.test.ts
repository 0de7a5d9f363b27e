import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { ColumnCache } from '../columns/column-cache.ts'
import { collection, compileText, feature, scratch } from '../compile/compile-fixture.ts'
import { PositionBits } from '../pack/position-bits.ts'
import { openSnapshot } from '../snapshot/open.ts'
import { decodeArchive, decodeTile } from './archive/test-archive.ts'
import { buildTiles } from './build/build-tiles.ts'
import { tileColumnOf } from './encode/cell-values.ts'
import { SelectedTiles } from './selected/selected-tiles.ts'
import { tileSnapshotOf } from './selected/tile-snapshot.ts'
import { WORLD, worldX, worldY } from './web-mercator.ts'

type Row = { n: number; mag: number | null; kind: string | null; felt: boolean; day: string }

const MAX_ZOOM = 6
const CELLS = 64

function rows(count: number): { at: [number, number]; row: Row }[] {
  let seed = 5
  const random = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return seed / 2 ** 32
  }
  return Array.from({ length: count }, (_, n) => {
    const at: [number, number] =
      random() < 0.7 ? [13 + random() * 2, 52 + random() * 2] : [random() * 360 - 180, random() * 160 - 80]
    const mag = random() < 0.1 ? null : Math.round(random() * 80) / 10
    const kind = random() < 0.1 ? null : ['quake "a"', 'blast', 'ice\\', 'öther'][Math.floor(random() * 4)]!
    const day = `20${10 + Math.floor(random() * 80)}-03-04`
    return { at, row: { n, mag, kind, felt: random() < 0.4, day } }
  })
}

const data = rows(6000)
const { folder } = await compileText(
  collection(data.map(({ at, row }) => feature(row, { type: 'Point', coordinates: at }, row.n))),
)
const path = join(scratch, 'cells.pmtiles')
const built = await buildTiles(folder, path, { table: 'cells', maxZoom: MAX_ZOOM })

/** The rows of each cell of a zoom, by the address of its tile and its place in the tile. */
function cellsAt(z: number): Map<string, Row[]> {
  const cells = new Map<string, Row[]>()
  for (const { at, row } of data) {
    const along = (world: number) => Math.floor((world / WORLD) * 2 ** z * CELLS)
    const key = `${along(worldX(at[0]))} ${along(worldY(at[1]))}`
    cells.set(key, [...(cells.get(key) ?? []), row])
  }
  return cells
}

function mostFrequent<T>(values: readonly T[]): { top: T; count: number } {
  const counts = new Map<T, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  const [[top, count]] = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)) as [[T, number]]
  return { top, count }
}

/** Properties as a text. */
function sorted(properties: Record<string, unknown>): string {
  return JSON.stringify(Object.entries(properties).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function expected(members: readonly Row[]): Record<string, unknown> {
  const properties: Record<string, unknown> = { point_count: members.length }
  const summarize = (name: 'mag' | 'kind' | 'felt', isNumber: boolean) => {
    const values = members.map((row) => row[name]).filter((value) => value !== null)
    if (values.length === 0) return
    const { top, count } = mostFrequent(values)
    properties[`${name}:top`] = top
    properties[`${name}:share`] = Math.round((1000 * count) / members.length) / 1000
    if (!isNumber) return
    const numbers = values as number[]
    properties[`${name}:mean`] = Math.fround(numbers.reduce((sum, one) => sum + one, 0) / numbers.length)
    properties[`${name}:min`] = Math.min(...numbers)
    properties[`${name}:max`] = Math.max(...numbers)
  }
  summarize('mag', true)
  summarize('kind', false)
  summarize('felt', false)
  return properties
}

test('a point that stands for several features tells their most frequent value, mean and extremes, at every zoom', async () => {
  const snapshot = await openSnapshot(folder)
  const cache = new ColumnCache(1 << 26)
  const columns = await Promise.all(['mag', 'kind', 'felt'].map((name) => cache.load(snapshot, name)))
  const summed = columns.map((column) => tileColumnOf(column!)!)
  const positions = PositionBits.empty(data.length)
  positions.addRun(0, data.length)
  const tiles = new SelectedTiles(await tileSnapshotOf(snapshot, 'cells'), 4)
  for (let z = 0; z <= built.maxZoom; z++) {
    const clusters: string[] = []
    const addresses = new Set(
      data.map(({ at }) =>
        [worldX(at[0]), worldY(at[1])].map((w) => Math.floor((w / WORLD) * 2 ** z)).join(),
      ),
    )
    for (const address of addresses) {
      const [x, y] = address.split(',').map(Number) as [number, number]
      const rules = { isDeepest: z === built.maxZoom, hasCells: z <= built.cellZoom!, summed }
      for (const { id, properties } of decodeTile(tiles.encode({ z, x, y }, positions, rules), z, x, y)) {
        if ('point_count' in properties) clusters.push(sorted(properties))
        else assert.equal(properties.n, id, 'a single feature has its own values')
      }
    }
    const several = z > built.cellZoom! ? [] : [...cellsAt(z).values()].filter(({ length }) => length > 1)
    assert.deepEqual(clusters.sort(), several.map((members) => sorted(expected(members))).sort(), `zoom ${z}`)
  }
  tiles.close()
  await snapshot.close()
})

test('points turn from cells into features at the same zoom in all tiles', async () => {
  const { features } = await decodeArchive(path)
  const { cellZoom, maxZoom } = built
  assert.ok(cellZoom! >= 1 && cellZoom! < maxZoom, `${cellZoom}`)
  for (let z = 0; z <= maxZoom; z++) {
    const shown = features.filter((one) => one.z === z)
    if (z > cellZoom!) assert.ok(shown.every(({ properties }) => !('point_count' in properties)))
    else {
      const cells = cellsAt(z)
      assert.equal(shown.length, cells.size, `at zoom ${z}, every cell of every tile is one point`)
    }
  }
})
