import { type Snapshot, timeSlices } from '@wayleave/geodata/features'
import type { Geometry } from '@wayleave/geodata/geometry'
import { type MaybeUnfinished, Unfinished } from '../work/unfinished.ts'
import type { GeometryCache } from './geometry-cache.ts'

export const ENDED = -1
export const PAUSED = -2
/** A block of the snapshot's index, or what `loadMissing` reads, has to be read. */
export const BLOCKED = -3

/**
 * Work that stops at the end of a time slice. `advance` returns ENDED, PAUSED at `until`, BLOCKED, or the position whose
 * geometry it needs, which is then passed to the next call.
 */
export interface SlicedWork {
  advance(until: number, geometry?: Geometry | null): number
  /** Reads what the work was blocked by, if that is not a block of the index; null if it is one. */
  loadMissing?(): Promise<unknown> | null
}

/**
 * Runs a search to its end: synchronously in its first time slice, then it yields to the event loop after every
 * slice.
 */
export function runSliced(
  search: SlicedWork,
  snapshot: Snapshot,
  geometries: GeometryCache,
): MaybeUnfinished<true> {
  const state = search.advance(timeSlices.sliceEnd())
  return state === ENDED ? true : rest(search, state, snapshot, geometries)
}

/** `state` is what `advance` has returned. */
function rest(
  search: SlicedWork,
  state: number,
  snapshot: Snapshot,
  geometries: GeometryCache,
): Unfinished<true> {
  return new Unfinished<true>(async (work) => {
    let sliceEnd = performance.now()
    // Another search may have been blocked since then, so this one finds out again which block it needs.
    for (let needed = state === BLOCKED ? PAUSED : state; needed !== ENDED; ) {
      if (needed === BLOCKED) {
        await (search.loadMissing?.() ?? snapshot.tree.loadMissing())
        needed = search.advance(sliceEnd)
        continue
      }
      if (performance.now() >= sliceEnd) sliceEnd = await work.pause()
      if (needed === PAUSED) needed = search.advance(sliceEnd)
      else needed = search.advance(sliceEnd, await geometries.read(snapshot, needed))
    }
    return true
  })
}
