import { GEOMETRY_TYPES } from '../../feature.ts'
import { COLLECTION, DEPTH, geometryBody, geometryCode, MULTI_POINT, POINT } from './geometry-bytes.ts'

const OPENING = 0x5b
const CLOSING = 0x5d
const COMMA = 0x2c
const SPACE = 0x20
const ROUND_OPENING = 0x28
const ROUND_CLOSING = 0x29
const NAMES = GEOMETRY_TYPES.map((type) => Buffer.from(type.toUpperCase()))
const EMPTY = Buffer.from(' EMPTY')
const Z = Buffer.from(' Z')

/** Converts the bytes of a GeoJSON geometry to WKT without parsing numbers: the digits are copied. */
export class WktWriter {
  /** The current read and write offsets. */
  #p = 0
  #at = 0
  #hasZ = false
  readonly #mayHaveZ: boolean

  constructor(mayHaveZ: boolean) {
    this.#mayHaveZ = mayHaveZ
  }

  /** The output needs at most twice the geometry's bytes. Returns the next free offset in `out`. */
  put(from: Buffer, start: number, end: number, out: Buffer, at: number): number {
    this.#at = at
    this.#hasZ = this.#mayHaveZ && anyHeight(from, start, end)
    this.#geometry(from, start, out)
    return this.#at
  }

  #geometry(from: Buffer, start: number, out: Buffer): void {
    const code = geometryCode(from, start)
    const body = geometryBody(start, code)
    this.#bytes(NAMES[code - 1]!, out)
    if (this.#hasZ) this.#bytes(Z, out)
    if (from[body + 1] === CLOSING) {
      this.#bytes(EMPTY, out)
      this.#p = body + 3
      return
    }
    out[this.#at++] = SPACE
    if (code === COLLECTION) this.#members(from, body, out)
    else this.#coordinates(from, body, code, out)
  }

  #members(from: Buffer, body: number, out: Buffer): void {
    let p = body + 1
    out[this.#at++] = ROUND_OPENING
    while (from[p] !== CLOSING) {
      if (from[p] === COMMA) {
        p++
        out[this.#at++] = COMMA
        out[this.#at++] = SPACE
      }
      this.#geometry(from, p, out)
      p = this.#p
    }
    out[this.#at++] = ROUND_CLOSING
    this.#p = p + 2
  }

  #coordinates(from: Buffer, body: number, code: number, out: Buffer): void {
    const positionDepth = DEPTH[code]! + 1
    const inRound = code === MULTI_POINT || code === POINT
    let at = this.#at
    let p = body
    let depth = 0
    do {
      const byte = from[p++]!
      if (byte === OPENING) {
        if (++depth < positionDepth) out[at++] = ROUND_OPENING
        else {
          if (inRound) out[at++] = ROUND_OPENING
          let numbers = 1
          for (let inner = from[p++]!; inner !== CLOSING; inner = from[p++]!) {
            if (inner === COMMA) {
              numbers++
              out[at++] = SPACE
            } else out[at++] = inner
          }
          if (this.#hasZ && numbers === 2) {
            out[at++] = SPACE
            out[at++] = 0x30
          }
          if (inRound) out[at++] = ROUND_CLOSING
          depth--
        }
      } else if (byte === CLOSING) {
        depth--
        out[at++] = ROUND_CLOSING
      } else {
        out[at++] = COMMA
        out[at++] = SPACE
      }
    } while (depth > 0)
    this.#at = at
    this.#p = p + 1
  }

  #bytes(bytes: Buffer, out: Buffer): void {
    for (let i = 0; i < bytes.length; i++) out[this.#at++] = bytes[i]!
  }
}

/** WKT declares heights once for a whole geometry; positions without one get 0. */
function anyHeight(from: Buffer, start: number, end: number): boolean {
  let numbers = 0
  for (let p = start; p < end; p++) {
    const byte = from[p]
    if (byte === OPENING) numbers = 1
    else if (byte === COMMA && ++numbers === 3) return true
    else if (byte === CLOSING) numbers = -1000
  }
  return false
}
