import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { lacks } from '../../../scripts/test-run/needs.ts'
import { compileSnapshot } from '../compile/compile.ts'
import type { Geometry, Position } from '../feature.ts'
import { openSource } from './index.ts'
import { gdalFeatures, ogr2ogr, readAll, scratch } from './reading.test-kit.ts'

/** Curves with arcs, curve types without arcs, and surfaces, with and without heights. */
const ARCS = [
  'CIRCULARSTRING(0 0,1 1,2 0)',
  'CIRCULARSTRING Z(0 0 5,1 1 10,2 0 15,3 -1 20,4 0 25)',
  'CIRCULARSTRING(3 4,-3 -4,3 4)',
  'COMPOUNDCURVE(CIRCULARSTRING(0 0,1 1,2 0),(2 0,5 0),CIRCULARSTRING(5 0,6 -1,7 0))',
  'CURVEPOLYGON(CIRCULARSTRING(0 0,4 0,4 4,0 4,0 0),(1 1,3 3,3 1,1 1))',
  'CURVEPOLYGON(COMPOUNDCURVE(CIRCULARSTRING(0 0,2 0,2 1,2 3,4 3),(4 3,4 5,1 4,0 0)))',
  'MULTICURVE((0 0,5 5),CIRCULARSTRING(4 0,4 4,8 4))',
  'MULTISURFACE(CURVEPOLYGON(CIRCULARSTRING(0 0,4 0,4 4,0 4,0 0)),((10 10,14 12,11 10,10 10)))',
]
const STRAIGHT = ['MULTISURFACE(((10 10,14 12,11 10,10 10)))', 'MULTICURVE((0 0,5 5),(1 1,2 3))']
const SURFACES = [
  'TRIANGLE((0 0,0 9,9 0,0 0))',
  'TIN Z(((0 0 0,0 0 1,0 1 0,0 0 0)),((0 0 0,0 1 0,1 1 0,0 0 0)))',
  'POLYHEDRALSURFACE Z(((0 0 0,0 1 0,1 1 0,1 0 0,0 0 0)),((0 0 0,0 1 0,0 1 1,0 0 1,0 0 0)))',
]
const ALL = [...ARCS, ...STRAIGHT, ...SURFACES]

/** The lines of a geometry, with the positions' heights. */
function linesOf(geometry: Geometry): Position[][] {
  switch (geometry.type) {
    case 'LineString':
      return [geometry.coordinates]
    case 'MultiLineString':
    case 'Polygon':
      return geometry.coordinates
    case 'MultiPolygon':
      return geometry.coordinates.flat()
    default:
      throw new Error(geometry.type)
  }
}

function lengthOf(line: Position[]): number {
  return line.slice(1).reduce((sum, [x, y], i) => sum + Math.hypot(x! - line[i]![0]!, y! - line[i]![1]!), 0)
}

function areaOf(line: Position[]): number {
  return Math.abs(
    line.slice(1).reduce((sum, [x, y], i) => sum + line[i]![0]! * y! - x! * line[i]![1]!, 0) / 2,
  )
}

const OUTPUTS: [name: string, format: string][] = [
  ['curves.gpkg', 'GPKG'],
  ['curves.fgb', 'FlatGeobuf'],
]

test('curves become lines and faces polygons in every format, as GDAL approximates them', {
  skip: lacks('gdal'),
}, async (t) => {
  const folder = scratch(t)
  const csv = join(folder, 'curves.csv')
  writeFileSync(csv, `n,wkt\n${ALL.map((wkt, i) => `${i},"${wkt}"\n`).join('')}`)
  // GDAL's GeoJSON driver linearises neither curves with heights nor surfaces.
  const flat = join(folder, 'flat.csv')
  const withoutZ = (wkt: string) => wkt.replace(' Z', '').replace(/(-?\d+ -?\d+) \d+/g, '$1')
  writeFileSync(
    flat,
    `n,wkt\n${[...ARCS, ...STRAIGHT].map((wkt, i) => `${i},"${withoutZ(wkt)}"\n`).join('')}`,
  )
  const options = ['-oo', 'GEOM_POSSIBLE_NAMES=wkt', '--config', 'OGR_ARC_STEPSIZE', '1']
  const linear = gdalFeatures(flat, '-nlt', 'CONVERT_TO_LINEAR', ...options)
  for (const [name, format] of OUTPUTS)
    ogr2ogr('-f', format, join(folder, name), csv, '-oo', 'GEOM_POSSIBLE_NAMES=wkt', '-a_srs', 'EPSG:4326')
  for (const name of ['curves.csv', ...OUTPUTS.map(([output]) => output)]) {
    const { features, unreadable, rows } = await readAll(openSource(join(folder, name)))
    assert.deepEqual(unreadable, [], name)
    assert.equal(features.length, ALL.length)
    for (const [i, feature] of features.entries()) {
      // FlatGeobuf is sorted by its index.
      const n = Number(rows[i]!['n'])
      const geometry = feature.geometry!
      const expected = ARCS[n] ? 'curves' : SURFACES.includes(ALL[n]!) ? 'surfaces' : undefined
      assert.equal(geometry.converted, expected, `${name}: ${ALL[n]}`)
      if (SURFACES.includes(ALL[n]!)) continue
      const [ours, theirs] = [linesOf(geometry), linesOf(linear[n]!.geometry!)]
      assert.equal(geometry.type, linear[n]!.geometry!.type)
      assert.equal(ours.length, theirs.length)
      for (const [part, line] of ours.entries()) {
        const near = (one: number, other: number) => Math.abs(one - other) <= 2e-4 * Math.max(1, other)
        assert.ok(near(lengthOf(line), lengthOf(theirs[part]!)), `${name}: ${ALL[n]}`)
        assert.ok(near(areaOf(line), areaOf(theirs[part]!)), `${name}: ${ALL[n]}`)
      }
    }
  }
})

test('positions of an arc are on its circle, a degree apart, with the given ones kept', async (t) => {
  const csv = join(scratch(t), 'arc.csv')
  writeFileSync(csv, 'wkt\n"CIRCULARSTRING Z(1000 0 0,0 1000 10,-1000 0 20)"\n')
  const { features } = await readAll(openSource(csv, { crs: 'EPSG:3857' }))
  const [line] = linesOf(features[0]!.geometry!)
  assert.equal(line!.length, 181)
  assert.deepEqual(line![90], [0, 1000, 10])
  assert.ok(Math.abs(line![45]![2]! - 5) < 1e-9)
  for (const [x, y] of line!) assert.ok(Math.abs(Math.hypot(x!, y!) - 1000) < 1e-9)
})

test('the report says how many features had curves and surfaces', async (t) => {
  const folder = scratch(t)
  const csv = join(folder, 'curves.csv')
  writeFileSync(csv, `wkt\n${ALL.map((wkt) => `"${wkt}"\n`).join('')}`)
  const { report } = await compileSnapshot({ path: csv, folder: join(folder, 'snapshot') })
  assert.equal(report.rows, ALL.length)
  assert.deepEqual(report.geometryTypes, ['LineString', 'Polygon', 'MultiLineString', 'MultiPolygon'])
  assert.deepEqual(report.notes.slice(-2), [
    '8 features have curves: these became lines of segments of at most 1° of their circle, which deviate by at most 0.004 % of its radius.',
    '3 features have surfaces of faces or triangles (multipatch, polyhedral surface, TIN): each face became a polygon.',
  ])
})
