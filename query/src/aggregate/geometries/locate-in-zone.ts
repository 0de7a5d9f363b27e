import { type Codes, IndexTree } from '@wayleave/geodata/features'
import { EXTERIOR, type Geometry, INTERIOR, locateBox, prepare, relates } from '@wayleave/geodata/geometry'

/** Places, the nodes of a tree over them, and the zone of each place plus 1; 0 for those outside of all zones. */
export interface LocatedPlaces {
  /** Two numbers for each; NaN if a feature has no place. */
  points: Float64Array
  nodes: Float64Array
  zoneOf: Codes
}

/**
 * Writes the zone of the places that lie in it and in no zone before it. Nodes of the tree that lie inside are not
 * divided; only places at the edge are looked at one by one.
 */
export function locateInZone(zone: Geometry, number: number, { points, nodes, zoneOf }: LocatedPlaces): void {
  const area = prepare(zone)
  if (area.areas === 0) return
  const tree = IndexTree.of(points, true, nodes)
  const decide = (west: number, south: number, east: number, north: number) => {
    // Not true for a node without places, or for a feature without one.
    if (!(west <= east)) return false
    const location = locateBox(area, west, south, east, north)
    return location === INTERIOR ? true : location === EXTERIOR ? false : undefined
  }
  for (const { begin, end, isCertain } of tree.runsWhere(decide, 0)) {
    for (let position = begin; position < end; position++) {
      // The first zone in the order of its dataset, if several overlap or share an edge.
      if (zoneOf[position] !== 0) continue
      const coordinates = [points[position * 2]!, points[position * 2 + 1]!]
      if (isCertain || relates('intersects', area, { type: 'Point', coordinates }))
        zoneOf[position] = number + 1
    }
  }
}
