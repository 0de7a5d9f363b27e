import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { collection, compileText, scratch } from '../compile/compile-fixture.ts'
import { type DecodedArchive, type DecodedFeature, decodeArchive } from './archive/test-archive.ts'
import { buildTiles } from './build/build-tiles.ts'
import { ringArea } from './shapes/rings.ts'

let serial = 0

/** Builds the tiles of features and decodes them. */
export async function tilesOf(
  features: unknown[],
  maxZoom?: number,
): Promise<DecodedArchive & { path: string }> {
  const { folder } = await compileText(collection(features))
  const path = join(scratch, `shapes-${++serial}.pmtiles`)
  await buildTiles(folder, path, { table: 'shapes', maxZoom })
  return { ...(await decodeArchive(path)), path }
}

export const polygon = (...rings: number[][][]) => ({ type: 'Polygon', coordinates: rings })

/** A square in degrees, closed. */
export function square(west: number, south: number, size: number): number[][] {
  const [east, north] = [west + size, south + size]
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
}

/** The area that a feature's rings enclose, in square tile units: outer rings are positive, holes negative. */
export function areaOf({ lists }: DecodedFeature): number {
  let area = 0
  for (const list of lists) {
    const ring = list.slice(0, -1).flat()
    area += ringArea(ring, 0, ring.length / 2) / 2
  }
  return area
}

/** Asks GEOS whether polygons are valid: a list of rings each, the outer ones with a positive area. */
export function invalidPolygons(features: readonly DecodedFeature[]): string[] {
  const path = join(scratch, `rings-${++serial}.json`)
  writeFileSync(path, JSON.stringify(features.map(({ lists }) => lists)))
  const program = `
import json, sys
from shapely.geometry import Polygon, MultiPolygon
from shapely.validation import explain_validity
def area(r): return sum(a[0]*b[1]-b[0]*a[1] for a,b in zip(r, r[1:]))
bad = []
for rings in json.load(open(sys.argv[1])):
    parts = []
    for ring in rings:
        if area(ring) > 0: parts.append((ring, []))
        else: parts[-1][1].append(ring)
    why = explain_validity(MultiPolygon([Polygon(o, h) for o, h in parts]))
    if why != 'Valid Geometry': bad.append(why)
print(json.dumps(bad))
`
  return JSON.parse(
    execFileSync(process.env.WAYLEAVE_TEST_PYTHON!, ['-c', program, path], { encoding: 'utf8' }),
  )
}
