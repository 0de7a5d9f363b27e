import type { Snapshot } from '@wayleave/geodata/features'

/** The longitude and latitude of a position; NaN if it has no place. The array is used again by the next call. */
export type PlaceOf = (position: number) => readonly [longitude: number, latitude: number]

/** Points have their own coordinates, other shapes a point that lies on them: `points` has two numbers for each. */
export function placeOf({ tree }: Snapshot, points: Float64Array | null): PlaceOf {
  const place: [number, number] = [Number.NaN, Number.NaN]
  const numbers = points ?? tree.leaves
  const count = points ? points.length / 2 : tree.count
  return (position) => {
    place[0] = position < count ? numbers[position * 2]! : Number.NaN
    place[1] = position < count ? numbers[position * 2 + 1]! : Number.NaN
    return place
  }
}
