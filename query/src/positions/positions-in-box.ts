import { type IndexTree, PositionBits, type Snapshot } from '@wayleave/geodata/features'
import type { Bbox } from '@wayleave/geodata/geometry'
import type { DecideInBox } from '../cql2/evaluate/decide-in-box.ts'
import type { TimedWork } from '../work/timed-work.ts'

/** The features whose bounding boxes intersect the box and, if wanted, those without a geometry. */
export async function positionsInBox(
  tree: IndexTree,
  size: number,
  box: Bbox,
  withPlaceless = false,
): Promise<PositionBits> {
  const positions = PositionBits.empty(size)
  await eachRunInBox(tree, box, (begin, end) => positions.addRun(begin, end))
  if (withPlaceless) positions.addRun(tree.count, size)
  return positions
}

/** Calls `take` for the runs of features whose bounding boxes intersect the box. */
export async function eachRunInBox(
  tree: IndexTree,
  box: Bbox,
  take: (begin: number, end: number) => void,
): Promise<void> {
  const walk = tree.walk(box, 0)
  do {
    if (walk.isBlocked) await tree.loadMissing()
    while (walk.next()) take(walk.begin, walk.end)
  } while (walk.isBlocked)
}

/** The features that `decide` does not rule out by their boxes, and all features without a box. */
export async function possiblePositions(
  tree: IndexTree,
  size: number,
  decide: DecideInBox,
  work: TimedWork,
): Promise<PositionBits> {
  const positions = PositionBits.empty(size)
  for (const { begin, end, isBlocked } of tree.runsWhere(decide, 0)) {
    if (isBlocked) await tree.loadMissing()
    else {
      positions.addRun(begin, end)
      await work.next()
    }
  }
  positions.addRun(tree.count, size)
  return positions
}

/** The positions of the features with these ids; ids that no feature has are ignored. */
export async function positionsOf(
  snapshot: Snapshot,
  ids: readonly string[] | null,
  work: TimedWork,
): Promise<PositionBits | null> {
  if (ids === null) return null
  const positions = PositionBits.empty(snapshot.manifest.rows)
  const add = (position: number) => {
    if (position !== -1) positions.add(position)
  }
  // Without a promise for each id: a thousand of them took longer than the look-ups.
  const unread: string[] = []
  await work.each(ids.length, (i) => {
    const position = snapshot.findByIdInMemory(ids[i]!)
    if (position === undefined) unread.push(ids[i]!)
    else add(position)
  })
  for (const position of await Promise.all(unread.map((id) => snapshot.findById(id)))) add(position)
  return positions
}
