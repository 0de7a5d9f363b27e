import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openSnapshot, type Snapshot } from '@wayleave/geodata/features'
import { type Geometry, pointOnSurface, relates, writeWkb } from '@wayleave/geodata/geometry'
import { collection, compileText, feature, scratch } from '@wayleave/geodata/testing'
import { cellToChildren, getRes0Cells, latLngToCell } from 'h3-js'
import { type AggregateQuery, type Dimension, type Measure, QueryEngine, TimedWork } from '../../engine.ts'
import { geodesicArea, geodesicLength } from '../geometries/geodesic-size.ts'
import { cellGrid } from './map-cells.ts'

const work = new TimedWork({ owner: 'test', maxMs: 600_000 })

interface Compiled {
  snapshot: Snapshot
  geometries: (Geometry | null)[]
}

async function compiled(geometries: (Geometry | null)[]): Promise<Compiled> {
  const { folder, features } = await compileText(
    collection(geometries.map((geometry, i) => feature({ name: `zone ${i}` }, geometry))),
  )
  return { snapshot: await openSnapshot(folder), geometries: features.map(({ geometry }) => geometry) }
}

function pointAt(i: number): Geometry | null {
  if (i % 40 === 0) return null
  return { type: 'Point', coordinates: [((i * 7919) % 3600) / 10 - 180, ((i * 104_729) % 1790) / 10 - 89.5] }
}

/** Shapes around such a point, some of which cross the edges of zones. */
function shapeAt(i: number): Geometry | null {
  const point = pointAt(i)
  if (point?.type !== 'Point') return null
  const [x, y] = [
    Math.max(-175, Math.min(175, point.coordinates[0]!)),
    Math.max(-85, Math.min(85, point.coordinates[1]!)),
  ]
  if (i % 3 === 0) return { type: 'LineString', coordinates: [[x, y], [x + 4, y + 1], [x + 4, y + 3]] } // biome-ignore format: one line
  return { type: 'Polygon', coordinates: [[[x, y], [x + 3, y], [x, y + 3], [x, y]]] } // biome-ignore format: one line
}

/** Triangles and squares, of which neighbours share edges and some overlap. */
function zoneAt(i: number): Geometry | null {
  const [x, y] = [-180 + (i % 12) * 30, -80 + Math.floor(i / 12) * 40]
  if (i === 17) return null
  const square = [[x, y], [x + 30, y], [x + 30, y + 40], [x, y + 40], [x, y]] // biome-ignore format: one line
  const hole = [[x + 10, y + 10], [x + 10, y + 20], [x + 20, y + 20], [x + 20, y + 10], [x + 10, y + 10]] // biome-ignore format: one line
  const triangle = [[x - 5, y], [x + 30, y], [x + 30, y + 40], [x - 5, y]] // biome-ignore format: one line
  return { type: 'Polygon', coordinates: i % 3 === 0 ? [square, hole] : i % 3 === 1 ? [square] : [triangle] }
}

let points: Compiled
let shapes: Compiled
let zones: Compiled
let engine: QueryEngine

before(async () => {
  points = await compiled(Array.from({ length: 5000 }, (_, i) => pointAt(i)))
  shapes = await compiled(Array.from({ length: 1500 }, (_, i) => shapeAt(i)))
  zones = await compiled(Array.from({ length: 48 }, (_, i) => (zoneAt(i) && i % 12 !== 0 ? zoneAt(i) : null)))
  engine = new QueryEngine(scratch, { geometryBytes: 1 << 24, columnBytes: 1 << 26 })
})
after(async () => {
  await engine.close()
  for (const { snapshot } of [points, shapes, zones]) await snapshot.close()
})

function ask({ snapshot }: Compiled, dimension: Dimension | null, more: Partial<AggregateQuery> = {}) {
  const query: AggregateQuery = {
    groupby: dimension ? [{ ...dimension, name: 'place' }] : [],
    measures: [{ kind: 'count', name: 'count' }],
    having: null,
    sort: [],
    offset: 0,
    limit: 100_000,
    others: false,
    geometry: null,
    box: null,
    ...more,
  }
  return engine.aggregate(snapshot, query, null, work)
}

/** The number of features by the value of a function of their points. */
function expected({ geometries }: Compiled, of: (x: number, y: number) => string | number | null) {
  const counts = new Map<string | number | null, number>()
  for (const geometry of geometries) {
    const point = geometry && pointOnSurface(geometry)
    const value = point ? of(point[0]!, point[1]!) : null
    counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  return counts
}

function tileAt(zoom: number, x: number, y: number): string {
  const latitude = (Math.max(-85.0511287798, Math.min(85.0511287798, y)) * Math.PI) / 180
  const row = ((1 - Math.asinh(Math.tan(latitude)) / Math.PI) / 2) * 2 ** zoom
  const column = Math.min(2 ** zoom - 1, Math.floor(((x + 180) / 360) * 2 ** zoom))
  return `${zoom}/${column}/${Math.max(0, Math.min(2 ** zoom - 1, Math.floor(row)))}`
}

test('cells of the map have the features whose points lie in them, of points and of shapes', async () => {
  for (const dataset of [points, shapes]) {
    for (const zoom of [0, 3, 8, 14]) {
      const { rows } = await ask(dataset, { kind: 'tile', zoom })
      assert.deepEqual(
        new Map(rows as [string, number][]),
        expected(dataset, (x, y) => tileAt(zoom, x, y)),
      )
    }
    for (const resolution of [0, 4]) {
      const { rows } = await ask(dataset, { kind: 'h3', resolution })
      const cells = expected(dataset, (x, y) => latLngToCell(y, x, resolution))
      assert.deepEqual(new Map(rows as [string, number][]), cells)
    }
  }
})

test('poles and the antimeridian are in cells', async (t) => {
  const corners = [[180, 0], [-180, 0], [180, 90], [-180, -90], [0, 90], [0, -90], [179.999_999_9, 66], [-180, 85.06]] // biome-ignore format: one line
  const edges = await compiled(corners.map((coordinates) => ({ type: 'Point', coordinates })))
  t.after(() => edges.snapshot.close())
  for (const zoom of [0, 1, 22]) {
    const { rows } = await ask(edges, { kind: 'tile', zoom })
    assert.deepEqual(
      new Map(rows as [string, number][]),
      expected(edges, (x, y) => tileAt(zoom, x, y)),
    )
  }
  for (const resolution of [0, 9, 15]) {
    const { rows, geometries } = await ask(edges, { kind: 'h3', resolution }, { geometry: 'geojson' })
    assert.deepEqual(
      new Map(rows as [string, number][]),
      expected(edges, (x, y) => latLngToCell(y, x, resolution)),
    )
    for (const geometry of geometries!) {
      const text = Buffer.from(geometry!).toString()
      assert.ok(
        (text.match(/-?[\d.]+/g) ?? []).every((number) => Math.abs(Number(number)) <= 180),
        text,
      )
    }
  }
})

test('a cell that was computed for one query is the same for others', async () => {
  const box = { box: [-60, -50, 60, 50] as [number, number, number, number], heights: null, projected: null }
  const some = await ask(points, { kind: 'tile', zoom: 5 }, { box })
  const all = new Map((await ask(points, { kind: 'tile', zoom: 5 })).rows as [string, number][])
  assert.ok(some.rows.length > 100 && some.rows.length < all.size)
  for (const [cell, count] of some.rows as [string, number][]) assert.ok(count <= all.get(cell)!)
  const again = await ask(points, { kind: 'tile', zoom: 5 }, { box })
  assert.deepEqual(again, some)
})

test('zones have the features whose points lie in them, exactly, also on edges and where zones overlap', async () => {
  const dimension: Dimension = { kind: 'within', zones: (read) => read(zones.snapshot), label: 'name' }
  for (const dataset of [points, shapes]) {
    const { rows, columns, geometries } = await ask(dataset, dimension, { geometry: 'geojson' })
    const binary = await ask(dataset, dimension, { geometry: 'wkb' })
    assert.deepEqual(
      columns.map(({ name }) => name),
      ['place', 'place.name', 'count'],
    )
    const zoneOf = (x: number, y: number) => {
      const point: Geometry = { type: 'Point', coordinates: [x, y] }
      const at = zones.geometries.findIndex((zone) => zone !== null && relates('intersects', zone, point))
      return at === -1 ? null : at
    }
    const counts = expected(dataset, zoneOf)
    assert.equal(rows.length, counts.size)
    for (const [i, [id, name, count]] of rows.entries()) {
      assert.equal(name, id === null ? null : `zone ${Number(id) - FIRST_ID}`)
      const position =
        id === null ? null : zones.geometries.findIndex((zone) => isSame(zone, zoneAt(Number(id) - FIRST_ID)))
      assert.equal(count, counts.get(position))
      const geometry = position === null ? null : zones.geometries[position]!
      assert.deepEqual(geometries![i] && JSON.parse(Buffer.from(geometries![i]!).toString()), geometry)
      assert.deepEqual(binary.geometries![i], geometry && writeWkb(geometry))
    }
  }
})

/** Row numbers of a source begin with this one. */
const FIRST_ID = 1

function isSame(a: Geometry | null, b: Geometry | null): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

test('areas and lengths are those of GeographicLib', async () => {
  // From the documentation of GeographicLib: the area of Antarctica, and the distance from Wellington to Salamanca.
  const antarctica = [[-63.1, -58], [-72.9, -74], [-71.9, -102], [-74.9, -102], [-74.3, -131], [-77.5, -163], [-77.4, 163], [-71.7, 172], [-65.9, 140], [-65.7, 113], [-66.6, 88], [-66.9, 59], [-69.8, 25], [-70, -4], [-71, -14], [-77.3, -33], [-77.9, -46], [-74.7, -61]] // biome-ignore format: one line
  const ring = [...antarctica, antarctica[0]!].map(([y, x]) => [x!, y!])
  assert.ok(Math.abs(geodesicArea({ type: 'Polygon', coordinates: [ring] }) - 13_662_703_680_020.1) < 1)
  const line: Geometry = { type: 'LineString', coordinates: [[174.81, -41.32], [-5.5, 40.96]] } // biome-ignore format: one line
  assert.ok(Math.abs(geodesicLength(line) - 19_959_679.267) < 0.001)
  assert.equal(geodesicArea(line), 0)
  const square = [[0, 0], [2, 0], [2, 2], [0, 2], [0, 0]] // biome-ignore format: one line
  const hole = square.map(([x, y]) => [x! / 2 + 0.5, y! / 2 + 0.5]).reverse()
  const [outer, inner] = [square, hole].map((each) => geodesicArea({ type: 'Polygon', coordinates: [each] }))
  assert.equal(geodesicArea({ type: 'Polygon', coordinates: [square, hole] }), outer! - inner!)
  const measures: (Measure & { name: string })[] = [
    { kind: 'area', name: 'area' },
    { kind: 'length', name: 'length' },
  ]
  const { rows, columns } = await ask(shapes, null, { measures })
  assert.deepEqual(
    columns.map(({ unit }) => unit),
    ['m²', 'm'],
  )
  const sum = (size: (geometry: Geometry) => number) =>
    shapes.geometries.reduce((all, geometry) => all + (geometry ? size(geometry) : 0), 0)
  for (const [i, size] of [geodesicArea, geodesicLength].entries()) {
    const own = rows[0]![i] as number
    assert.ok(own > 0 && Math.abs(own - sum(size)) <= own * 1e-12)
  }
})

test('the cells of a grid cover the map once, also at the antimeridian and the poles', async () => {
  const grid = await cellGrid({ kind: 'h3', resolution: 1 })
  const area = (ring: number[][]) =>
    ring.reduce((sum, [x, y], i) => {
      const [nextX, nextY] = ring[(i + 1) % ring.length]! as [number, number]
      return sum + (x! * nextY - nextX * y!) / 2
    }, 0)
  let whole = 0
  for (const cell of getRes0Cells().flatMap((parent) => cellToChildren(parent, 1))) {
    const geometry = grid.geometry(cell)
    const polygons =
      geometry.type === 'Polygon'
        ? [geometry.coordinates]
        : geometry.type === 'MultiPolygon'
          ? geometry.coordinates
          : []
    for (const [ring] of polygons) {
      assert.ok(ring!.every(([x]) => x! >= -180 && x! <= 180))
      // Exterior rings turn to the left (RFC 7946).
      assert.ok(area(ring!) > 0)
      whole += area(ring!)
    }
  }
  assert.ok(Math.abs(whole - 360 * 180) < 1e-6, String(whole))
})
