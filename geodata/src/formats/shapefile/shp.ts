import type { Geometry, Position } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import type { ByteSource } from '../reading/byte-source.ts'
import { ByteWindow } from '../reading/byte-window.ts'
import { largerThan, type SourceLimits } from '../reading/source-limits.ts'
import { polygonsOfPatches } from './multipatch.ts'
import { groupRings } from './rings.ts'

const NULL = 0
const POINT = 1
const POLY_LINE = 3
const POLYGON = 5
const MULTI_POINT = 8
const MULTI_PATCH = 31

const FILE_CODE = 9994
const HEADER_BYTES = 100

/** Reads the geometries of a shapefile sequentially, without the .shx: every record has its length. */
export class ShpReader {
  readonly window: ByteWindow
  readonly #file: string
  readonly #limits: SourceLimits
  #record = 0

  private constructor(window: ByteWindow, file: string, limits: SourceLimits) {
    this.window = window
    this.#file = file
    this.#limits = limits
  }

  static async open(source: ByteSource, limits: SourceLimits): Promise<ShpReader> {
    const window = new ByteWindow(source.bytes)
    const isWhole = await window.fill(HEADER_BYTES)
    if (!isWhole) throw new SourceError(`${source.file} ends too early: it has no shapefile header.`)
    if (window.bytes.readInt32BE(window.at) !== FILE_CODE)
      throw new SourceError(`${source.file} is not a shapefile: it does not begin as one.`)
    window.at += HEADER_BYTES
    return new ShpReader(window, source.file, limits)
  }

  /** Makes at least one record available; returns false at the end. */
  async fill(): Promise<boolean> {
    const { window } = this
    if (!(await window.fill(8))) {
      if (window.available === 0) return false
      throw this.#endsEarly()
    }
    const length = this.#contentLength()
    if (!(await window.fill(8 + length))) throw this.#endsEarly()
    return true
  }

  /** Whether another record follows. Some writers leave bytes of an older version behind the last one. */
  async hasNext(): Promise<boolean> {
    const { window } = this
    return (await window.fill(8)) && window.bytes.readInt32BE(window.at) === this.#record + 1
  }

  #endsEarly(): SourceError {
    return new SourceError(`${this.#file} ends too early: inside shape ${this.#record + 1}.`)
  }

  #contentLength(): number {
    const words = this.window.bytes.readInt32BE(this.window.at + 4)
    if (words < 2) throw new SourceError(`${this.#file} is damaged: shape ${this.#record + 1} has no length.`)
    if (words * 2 > this.#limits.rowBytes)
      throw new SourceError(
        `${this.#file}: shape ${this.#record + 1} is ${largerThan(this.#limits.rowBytes)}.`,
      )
    return words * 2
  }

  /** The next geometry, a sentence if it cannot be used, or undefined if `fill` must be awaited first. */
  next(): Geometry | null | string | undefined {
    const { window } = this
    if (window.available < 8) return undefined
    const length = this.#contentLength()
    if (window.available < 8 + length) return undefined
    const content = window.bytes.subarray(window.at + 8, window.at + 8 + length)
    window.at += 8 + length
    this.#record++
    return readShape(content)
  }
}

function readShape(bytes: Buffer): Geometry | null | string {
  const code = bytes.readInt32LE(0)
  if (code === NULL) return null
  const isMultipatch = code === MULTI_PATCH
  // A multipatch is laid out as a polygon with heights whose parts each have a kind.
  const family = isMultipatch ? POLYGON : code % 10
  const hasZ = isMultipatch || (code > 10 && code < 20)
  if ((code > 28 && !isMultipatch) || ![POINT, POLY_LINE, POLYGON, MULTI_POINT].includes(family))
    return `the shape has the unknown type ${code}`
  if (family === POINT) {
    if (bytes.length < (hasZ ? 28 : 20)) return 'the shape ends too early'
    const coordinates = [bytes.readDoubleLE(4), bytes.readDoubleLE(12)]
    if (hasZ) coordinates.push(bytes.readDoubleLE(20))
    return { type: 'Point', coordinates }
  }
  // Type and box come first, then the number of parts (not for points), the number of points, the parts.
  const counted = family === MULTI_POINT ? 40 : 44
  if (bytes.length < counted) return 'the shape ends too early'
  const partCount = family === MULTI_POINT ? 0 : bytes.readInt32LE(36)
  const pointCount = bytes.readInt32LE(counted - 4)
  const pointsAt = counted + partCount * (isMultipatch ? 8 : 4)
  const zAt = pointsAt + pointCount * 16 + 16
  const needed = hasZ ? zAt + pointCount * 8 : pointsAt + pointCount * 16
  if (partCount < 0 || pointCount < 0 || bytes.length < needed) return 'the shape ends too early'
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const positions = (from: number, to: number): Position[] => {
    const line: Position[] = new Array(Math.max(0, to - from))
    for (let i = from; i < to; i++) {
      const at = pointsAt + i * 16
      const [x, y] = [view.getFloat64(at, true), view.getFloat64(at + 8, true)]
      line[i - from] = hasZ ? [x, y, view.getFloat64(zAt + i * 8, true)] : [x, y]
    }
    return line
  }
  if (family === MULTI_POINT) return { type: 'MultiPoint', coordinates: positions(0, pointCount) }
  const lines: Position[][] = []
  for (let part = 0; part < partCount; part++) {
    const from = bytes.readInt32LE(44 + part * 4)
    const to = part + 1 < partCount ? bytes.readInt32LE(48 + part * 4) : pointCount
    if (from < 0 || to < from || to > pointCount) return 'the shape is damaged: its parts are out of order'
    lines.push(positions(from, to))
  }
  if (isMultipatch)
    return polygonsOfPatches(
      lines,
      lines.map((_, part) => bytes.readInt32LE(44 + (partCount + part) * 4)),
    )
  return family === POLY_LINE ? asLines(lines) : asPolygons(lines)
}

function asLines(lines: Position[][]): Geometry {
  return lines.length > 1
    ? { type: 'MultiLineString', coordinates: lines }
    : { type: 'LineString', coordinates: lines[0] ?? [] }
}

function asPolygons(rings: Position[][]): Geometry {
  const polygons = groupRings(rings)
  return polygons.length > 1
    ? { type: 'MultiPolygon', coordinates: polygons }
    : { type: 'Polygon', coordinates: polygons[0] ?? [] }
}
