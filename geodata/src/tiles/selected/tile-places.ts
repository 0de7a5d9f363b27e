import { projectPoints } from '../web-mercator.ts'
import { PLACES_HEAD_BYTES, type TileSnapshot } from './tile-snapshot.ts'

/** Points in Web Mercator, from 0 to `WORLD`. */
export interface Places {
  xs: Uint32Array
  ys: Uint32Array
}

const READY = 1

/** Where the points of a snapshot are. Two threads that ask at once may both compute it: they write the same. */
export function placesOf({ leaves, located }: TileSnapshot, memory: SharedArrayBuffer): Places {
  const state = new Int32Array(memory, 0, 1)
  const xs = new Uint32Array(memory, PLACES_HEAD_BYTES, located)
  const ys = new Uint32Array(memory, PLACES_HEAD_BYTES + located * 4, located)
  if (Atomics.load(state, 0) !== READY) {
    projectPoints(leaves, 2, 0, located, xs, ys)
    Atomics.store(state, 0, READY)
  }
  return { xs, ys }
}
