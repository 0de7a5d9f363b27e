export const POINT = 1
export const LINE = 2
export const POLYGON = 3
/** The geometry types of MVT. */
export type TileGeometryType = typeof POINT | typeof LINE | typeof POLYGON

const MOVE_TO = 1
const LINE_TO = 2
const CLOSE_PATH = 7 | (1 << 3)

/** The geometry of one feature of a tile as the commands of MVT 2.1, section 4.3. Used again for each feature. */
export class TileGeometry {
  commands = new Uint32Array(256)
  length = 0
  #x = 0
  #y = 0

  clear(): void {
    this.length = 0
    this.#x = 0
    this.#y = 0
  }

  /** A multipoint is all its points in one command: `count` points, x and y in turn. */
  points(xy: ArrayLike<number>, count: number): void {
    this.#reserve(1 + count * 2)
    this.commands[this.length++] = MOVE_TO | (count << 3)
    for (let i = 0; i < count; i++) this.#delta(xy[i * 2]!, xy[i * 2 + 1]!)
  }

  /** Adds a line of `count` different positions that begins at `from` (an index of positions). */
  line(xy: ArrayLike<number>, from: number, count: number): void {
    this.#reserve(2 + count * 2)
    this.commands[this.length++] = MOVE_TO | (1 << 3)
    this.#delta(xy[from * 2]!, xy[from * 2 + 1]!)
    this.commands[this.length++] = LINE_TO | ((count - 1) << 3)
    for (let i = from + 1; i < from + count; i++) this.#delta(xy[i * 2]!, xy[i * 2 + 1]!)
  }

  /** Adds a ring whose last position is not a copy of its first. */
  ring(xy: ArrayLike<number>, from: number, count: number): void {
    this.line(xy, from, count)
    this.#reserve(1)
    this.commands[this.length++] = CLOSE_PATH
  }

  #delta(x: number, y: number): void {
    const dx = x - this.#x
    const dy = y - this.#y
    this.commands[this.length++] = (dx << 1) ^ (dx >> 31)
    this.commands[this.length++] = (dy << 1) ^ (dy >> 31)
    this.#x = x
    this.#y = y
  }

  #reserve(more: number): void {
    if (this.length + more <= this.commands.length) return
    const larger = new Uint32Array(Math.max(this.commands.length * 2, this.length + more))
    larger.set(this.commands.subarray(0, this.length))
    this.commands = larger
  }
}
