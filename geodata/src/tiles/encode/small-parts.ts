/** The side of a pixel in tile units, for a tile that is drawn 512 pixels wide. */
export const PIXEL = 8

/**
 * Adds up lines or polygons that are too small to be drawn. Whenever they make up a whole pixel, one is to be
 * drawn at the place of the last, so that what is drawn is as large as what there is.
 */
export class SmallParts {
  #size = 0
  #count = 0
  /** The place of the last part, in tile units. */
  x = 0
  y = 0

  /**
   * Adds a part of a size (an area or a length; negative for a hole). Returns how many parts the one that is to
   * be drawn now stands for, or 0.
   */
  add(size: number, whole: number, x: number, y: number, isNew: boolean): number {
    this.#size += size
    if (isNew) this.#count++
    this.x = x
    this.y = y
    if (this.#size < whole) return 0
    this.#size -= whole
    const count = this.#count
    this.#count = 0
    return Math.max(1, count)
  }

  /** What is left at the end of a tile: how many parts, and their size. */
  rest(): { count: number; size: number } {
    return { count: this.#count, size: this.#size }
  }
}
