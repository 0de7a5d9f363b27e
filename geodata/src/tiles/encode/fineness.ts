import { PIXEL } from './small-parts.ts'

/** How finely a tile shows its shapes. */
export interface Fineness {
  /** Tile units between neighbouring positions. */
  step: number
  /** What is smaller than a square of this side, in tile units, is added up; 0 shows every feature. */
  pixel: number
  withProperties: boolean
  /** False: features are counted in points alone. */
  withShapes: boolean
}

/** From the finest to the coarsest: the first that fits is taken. */
export const FINENESSES: readonly Fineness[] = [
  { step: 2, pixel: PIXEL, withProperties: true, withShapes: true },
  { step: 4, pixel: 2 * PIXEL, withProperties: true, withShapes: true },
  { step: 4, pixel: 2 * PIXEL, withProperties: false, withShapes: true },
  { step: 8, pixel: 4 * PIXEL, withProperties: false, withShapes: true },
  { step: 16, pixel: 8 * PIXEL, withProperties: false, withShapes: true },
  { step: 16, pixel: 8 * PIXEL, withProperties: false, withShapes: false },
]

/** The deepest zoom: every feature, as exactly as a tile can. */
export const FINEST: Fineness = { step: 1, pixel: 0, withProperties: true, withShapes: true }
