/** The side of a pixel in tile units, for a tile that is drawn 512 pixels wide. */
export const PIXEL = 8

/**
 * Adds up the lines or polygons of a tile, or parts of them, that are too small to be drawn. Whenever they make up a
 * whole pixel, one is to be drawn at the place of the last, so that what is drawn is as large as what there is, and
 * not further than a pixel's worth of parts away.
 */
export class SmallParts {
  /** Less than a whole pixel. */
  #size = 0
  #features = 0

  /** Adds a part of a size (an area or a length). Returns how many whole pixels are to be drawn for it. */
  add(size: number, whole: number): number {
    this.#size += size
    const pixels = Math.floor(this.#size / whole)
    this.#size -= pixels * whole
    return pixels
  }

  /** Counts a feature that is not drawn itself. */
  addFeature(): void {
    this.#features++
  }

  /** How many features the pixel that is drawn now stands for; the next one stands for others. */
  takeFeatures(): number {
    const features = this.#features
    this.#features = 0
    return features
  }

  /** What is left at the end of a tile: how many features, and their size. */
  rest(): { features: number; size: number } {
    return { features: this.#features, size: this.#size }
  }
}
