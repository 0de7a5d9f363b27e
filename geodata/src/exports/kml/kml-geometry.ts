import type { GrowingRoom } from '../encoding/growing-room.ts'
import {
  geometryBody,
  geometryCode,
  LINE_STRING,
  MULTI_LINE_STRING,
  MULTI_POINT,
  MULTI_POLYGON,
  POINT,
  POLYGON,
} from '../geometry/geometry-bytes.ts'
import { Stamp } from '../stamp.ts'

const OPENING = 0x5b
const CLOSING = 0x5d
const COMMA = 0x2c
const SPACE = 0x20

const ALTITUDE = '<altitudeMode>absolute</altitudeMode>'
/** Without it, a line on the ground is drawn straight through hills. */
const TESSELLATE = '<tessellate>1</tessellate>'

const tags = (onGround: string, withHeight: string) => [new Stamp(onGround), new Stamp(withHeight)] as const
const POINT_START = tags('<Point><coordinates>', `<Point>${ALTITUDE}<coordinates>`)
const POINT_END = new Stamp('</coordinates></Point>')
const LINE_START = tags(`<LineString>${TESSELLATE}<coordinates>`, `<LineString>${ALTITUDE}<coordinates>`)
const LINE_END = new Stamp('</coordinates></LineString>')
const POLYGON_START = tags(`<Polygon>${TESSELLATE}`, `<Polygon>${ALTITUDE}`)
const POLYGON_END = new Stamp('</Polygon>')
const OUTER_START = new Stamp('<outerBoundaryIs><LinearRing><coordinates>')
const OUTER_END = new Stamp('</coordinates></LinearRing></outerBoundaryIs>')
const INNER_START = new Stamp('<innerBoundaryIs><LinearRing><coordinates>')
const INNER_END = new Stamp('</coordinates></LinearRing></innerBoundaryIs>')
const MULTI_START = new Stamp('<MultiGeometry>')
const MULTI_END = new Stamp('</MultiGeometry>')

/**
 * Converts the bytes of a GeoJSON geometry to KML without parsing numbers: positions are copied, brackets
 * become tags. An empty geometry is left out, because KML cannot represent one.
 */
export class KmlGeometryWriter {
  #room: GrowingRoom
  #from: Buffer = Buffer.alloc(0)
  #p = 0
  #end = 0
  #height: 0 | 1 = 0

  constructor(room: GrowingRoom, hasZ: boolean) {
    this.#room = room
    this.#height = hasZ ? 1 : 0
  }

  put(from: Buffer, start: number, end: number): void {
    this.#from = from
    this.#p = start
    this.#end = end
    if (geometryCode(from, start) !== 0) this.#geometry()
  }

  #geometry(): void {
    const code = geometryCode(this.#from, this.#p)
    this.#p = geometryBody(this.#p, code)
    if (this.#from[this.#p + 1] === CLOSING) this.#p += 2
    else if (code === POINT) this.#positions(POINT_START[this.#height], POINT_END, false)
    else if (code === LINE_STRING) this.#positions(LINE_START[this.#height], LINE_END, true)
    else if (code === POLYGON) this.#polygon()
    else {
      this.#tag(MULTI_START)
      this.#each(this.#member(code))
      this.#tag(MULTI_END)
    }
    this.#p++
  }

  #member(code: number): () => void {
    switch (code) {
      case MULTI_POINT:
        return () => this.#positions(POINT_START[this.#height], POINT_END, false)
      case MULTI_LINE_STRING:
        return () => this.#positions(LINE_START[this.#height], LINE_END, true)
      case MULTI_POLYGON:
        return () => this.#polygon()
      default:
        return () => this.#geometry()
    }
  }

  #polygon(): void {
    let first = true
    this.#tag(POLYGON_START[this.#height])
    this.#each(() => {
      this.#positions(first ? OUTER_START : INNER_START, first ? OUTER_END : INNER_END, true)
      first = false
    })
    this.#tag(POLYGON_END)
  }

  /** Visits the elements of an array, from its `[` to after its `]`. */
  #each(element: () => void): void {
    this.#p++
    while (this.#from[this.#p] !== CLOSING) {
      if (this.#from[this.#p] === COMMA) this.#p++
      element()
    }
    this.#p++
  }

  #positions(before: Stamp, after: Stamp, list: boolean): void {
    this.#tag(before)
    const { buffer: out } = this.#room
    const from = this.#from
    let at = this.#room.at
    let p = this.#p + (list ? 1 : 0)
    for (;;) {
      const byte = from[p++]!
      if (byte === OPENING) {
        for (let inner = from[p++]!; inner !== CLOSING; inner = from[p++]!) out[at++] = inner
        if (!list) break
      } else if (byte === COMMA) out[at++] = SPACE
      else break
    }
    this.#room.at = at
    this.#p = p
    this.#tag(after)
  }

  /** Positions never become longer, so reserving the size of the remaining geometry is enough. */
  #tag(tag: Stamp): void {
    this.#room.reserve(this.#end - this.#p + tag.length + 4)
    this.#room.at = tag.put(this.#room, this.#room.at)
  }
}
