import { ByteSink } from '../byte-sink.ts'
import { type ChangeCounts, type ComparedSnapshot, compareSnapshots, indexOf } from './compare-snapshots.ts'

/** Max places of each kind of change. */
const MAX_PLACES = 2000

/** Where features were added, removed and changed, for a map: a part of them, evenly taken, if there are many. */
export async function writeChangesPlaces(
  before: ComparedSnapshot,
  after: ComparedSnapshot,
  partial: string,
  signal?: AbortSignal,
): Promise<{ counts: ChangeCounts; sha256: string | undefined }> {
  const [old, current] = [await placesOf(before), await placesOf(after)]
  const [added, removed, changed] = [new EvenSample(), new EvenSample(), new EvenSample()]
  const counts = await compareSnapshots(
    before,
    after,
    {
      added: (_feature, position) => added.take(position),
      changed: (_feature, position) => changed.take(position),
      removed: (_feature, position) => removed.take(position),
    },
    signal,
  )
  const sink = new ByteSink(partial)
  try {
    const places = {
      added: current(added.positions),
      removed: old(removed.positions),
      changed: current(changed.positions),
    }
    sink.text(JSON.stringify({ counts, ...places }))
    return { counts, sha256: sink.close() }
  } finally {
    sink.abandon()
  }
}

/** Keeps every nth of what it takes, so that its size is bounded. Neighbours follow each other, so no area is left out. */
class EvenSample {
  positions: number[] = []
  #step = 1
  #count = 0

  take(position: number): void {
    if (this.#count++ % this.#step !== 0) return
    this.positions.push(position)
    if (this.positions.length < MAX_PLACES * 2) return
    this.positions = this.positions.filter((_, i) => i % 2 === 0)
    this.#step *= 2
  }
}

/** The centres of features; those without a location come last, and have none. */
async function placesOf(snapshot: ComparedSnapshot): Promise<(positions: number[]) => number[][]> {
  const { leaves, isPoints } = await indexOf(snapshot)
  const { located } = snapshot.manifest
  const degrees = (value: number) => Math.round(value * 1e5) / 1e5
  const placeOf = (position: number) => {
    if (isPoints) return [leaves[position * 2]!, leaves[position * 2 + 1]!].map(degrees)
    const [west, south, east, north] = leaves.subarray(position * 4, position * 4 + 4) as unknown as number[]
    return [(west! + east!) / 2, (south! + north!) / 2].map(degrees)
  }
  return (positions) => positions.filter((position) => position < located).map(placeOf)
}
