import type { Geometry, Position } from '../feature.ts'
import { SourceError } from '../source-error.ts'
import { joinParts, linearizeArcs } from './arcs.ts'
import { hasZ } from './wkb.ts'

/** Well-known text: ISO, PostGIS (EWKT, `POINTZ`) and hand-written forms. M is parsed and dropped. */

const MAX_DEPTH = 64

type WktType =
  | Geometry['type']
  | 'Curve'
  | 'CurvePolygon'
  | 'MultiCurve'
  | 'MultiSurface'
  | 'Faces'
  | 'Triangle'

const TYPES: { [keyword: string]: WktType } = {
  POINT: 'Point',
  LINESTRING: 'LineString',
  LINEARRING: 'LineString',
  POLYGON: 'Polygon',
  MULTIPOINT: 'MultiPoint',
  MULTILINESTRING: 'MultiLineString',
  MULTIPOLYGON: 'MultiPolygon',
  GEOMETRYCOLLECTION: 'GeometryCollection',
  CIRCULARSTRING: 'Curve',
  COMPOUNDCURVE: 'Curve',
  CURVEPOLYGON: 'CurvePolygon',
  MULTICURVE: 'MultiCurve',
  MULTISURFACE: 'MultiSurface',
  POLYHEDRALSURFACE: 'Faces',
  TIN: 'Faces',
  TRIANGLE: 'Triangle',
}

/** The types that curves and surfaces become. */
const CONVERTED_TYPES: { [type: string]: Exclude<Geometry['type'], 'GeometryCollection'> } = {
  Curve: 'LineString',
  CurvePolygon: 'Polygon',
  MultiCurve: 'MultiLineString',
  MultiSurface: 'MultiPolygon',
  Faces: 'MultiPolygon',
  Triangle: 'Polygon',
}

const SRID = /^\s*SRID\s*=\s*(\d+)\s*;/i

/** The SRID of an EWKT, or null. */
export function wktSrid(text: string): number | null {
  const match = SRID.exec(text)
  return match ? Number(match[1]) : null
}

/** Parses WKT. Throws a SourceError that says what is wrong and where. */
export function readWkt(text: string): Geometry {
  const reader = new WktReader(text, SRID.exec(text)?.[0].length ?? 0)
  const geometry = reader.geometry(0)
  reader.end()
  return geometry
}

const COMMA = 44
const OPEN = 40
const CLOSE = 41

class WktReader {
  readonly #text: string
  #at: number
  /** The first number of a position that is dropped: the third for `M`, the fourth for all others. */
  #dropFrom = 3
  #hasArcs = false

  constructor(text: string, at: number) {
    this.#text = text
    this.#at = at
  }

  geometry(depth: number): Geometry {
    if (depth > MAX_DEPTH) throw new SourceError(`the geometry is nested more than ${MAX_DEPTH} deep`)
    const before = this.#at
    const type = this.#type()
    if (isConverted(type)) return this.#converted(type, before)
    if (this.#empty()) {
      return type === 'GeometryCollection' ? { type, geometries: [] } : { type, coordinates: [] }
    }
    switch (type) {
      case 'Point': {
        this.#expect(OPEN)
        const coordinates = this.#position()
        this.#expect(CLOSE)
        return { type, coordinates: Number.isNaN(coordinates[0]) ? [] : coordinates }
      }
      case 'LineString':
        return { type, coordinates: this.#positions() }
      case 'Polygon':
        return { type, coordinates: this.#rings() }
      case 'MultiPoint':
        return { type, coordinates: this.#list(() => this.#memberPoint()) }
      case 'MultiLineString':
        return { type, coordinates: this.#rings() }
      case 'MultiPolygon':
        return { type, coordinates: this.#list(() => (this.#empty() ? [] : this.#rings())) }
      case 'GeometryCollection':
        return { type, geometries: this.#list(() => this.geometry(depth + 1)) }
    }
  }

  /** A curve or surface whose type GeoJSON does not have; `start` is where its keyword stands. */
  #converted(type: ConvertedType, start: number): Geometry {
    const geometry = { type: CONVERTED_TYPES[type]!, coordinates: [] as unknown[] }
    if (type === 'Curve') {
      this.#at = start
      geometry.coordinates = this.#curve(0)
    } else if (!this.#empty()) {
      if (type === 'Triangle') geometry.coordinates = this.#rings()
      else if (type === 'Faces') geometry.coordinates = this.#list(() => this.#surface())
      else if (type === 'MultiSurface') geometry.coordinates = this.#list(() => this.#surface())
      else geometry.coordinates = this.#list(() => this.#curve(0))
    }
    if (type === 'Faces' || type === 'Triangle') return { ...geometry, converted: 'surfaces' } as Geometry
    return (this.#hasArcs ? { ...geometry, converted: 'curves' } : geometry) as Geometry
  }

  /** A member of a curve type: without a keyword it is a line of straight segments. */
  #curve(depth: number): Position[] {
    if (depth > MAX_DEPTH) throw new SourceError(`the geometry is nested more than ${MAX_DEPTH} deep`)
    const before = this.#at
    const keyword = this.#word()
    if (keyword === '' || keyword === 'EMPTY') {
      this.#at = before
      return this.#empty() ? [] : this.#positions()
    }
    this.#at = before
    const type = this.#type()
    if (type !== 'LineString' && type !== 'Curve') throw unknownType(keyword)
    if (this.#empty()) return []
    if (type === 'LineString') return this.#positions()
    if (keyword.startsWith('COMPOUNDCURVE')) return joinParts(this.#list(() => this.#curve(depth + 1)))
    this.#hasArcs = true
    return linearizeArcs(this.#positions())
  }

  /** A member of a surface type: without a keyword it is a polygon. */
  #surface(): Position[][] {
    const before = this.#at
    const keyword = this.#word()
    this.#at = before
    if (keyword === '') return this.#rings()
    if (this.#empty()) return []
    const type = this.#type()
    if (type !== 'Polygon' && type !== 'CurvePolygon' && type !== 'Triangle') throw unknownType(keyword)
    if (this.#empty()) return []
    return type === 'CurvePolygon' ? this.#list(() => this.#curve(0)) : this.#rings()
  }

  end(): void {
    this.#space()
    if (this.#at < this.#text.length) this.#fail('the end')
  }

  #type(): WktType {
    let keyword = this.#word()
    let dimensions = ''
    if (!TYPES[keyword]) {
      const joined = /^(.*?)(ZM|Z|M)$/.exec(keyword)
      if (joined && TYPES[joined[1]!]) {
        keyword = joined[1]!
        dimensions = joined[2]!
      }
    }
    const type = TYPES[keyword]
    if (!type) {
      if (keyword === '') this.#fail('a geometry type')
      throw unknownType(keyword)
    }
    if (!dimensions) {
      const before = this.#at
      const word = this.#word()
      if (word === 'Z' || word === 'M' || word === 'ZM') dimensions = word
      else this.#at = before
    }
    this.#dropFrom = dimensions === 'M' ? 2 : 3
    return type
  }

  #empty(): boolean {
    const before = this.#at
    if (this.#word() === 'EMPTY') return true
    this.#at = before
    return false
  }

  #memberPoint(): Position {
    if (this.#empty()) return []
    this.#space()
    if (this.#text.charCodeAt(this.#at) !== OPEN) return this.#position()
    this.#at++
    const position = this.#position()
    this.#expect(CLOSE)
    return position
  }

  #positions(): Position[] {
    return this.#list(() => this.#position())
  }

  #rings(): Position[][] {
    return this.#list(() => (this.#empty() ? [] : this.#positions()))
  }

  #list<T>(read: () => T): T[] {
    this.#expect(OPEN)
    const items = [read()]
    for (;;) {
      this.#space()
      if (this.#text.charCodeAt(this.#at) !== COMMA) break
      this.#at++
      items.push(read())
    }
    this.#expect(CLOSE)
    return items
  }

  #position(): Position {
    const position = [this.#number(), this.#number()]
    for (let n = 2; ; n++) {
      this.#space()
      const code = this.#text.charCodeAt(this.#at)
      if (code === COMMA || code === CLOSE || n === 4 || Number.isNaN(code)) return position
      const value = this.#number()
      if (n < this.#dropFrom) position.push(value)
    }
  }

  #number(): number {
    this.#space()
    const start = this.#at
    let code = this.#text.charCodeAt(this.#at)
    while (code > 32 && code !== COMMA && code !== OPEN && code !== CLOSE) {
      code = this.#text.charCodeAt(++this.#at)
    }
    const token = this.#text.slice(start, this.#at)
    const value = Number(token)
    if (token === '' || (Number.isNaN(value) && token.toLowerCase() !== 'nan')) {
      this.#at = start
      this.#fail('a number')
    }
    return value
  }

  #word(): string {
    this.#space()
    const start = this.#at
    for (;;) {
      const code = this.#text.charCodeAt(this.#at) | 32
      if (!(code >= 97 && code <= 122)) break
      this.#at++
    }
    return this.#text.slice(start, this.#at).toUpperCase()
  }

  #space(): void {
    while (this.#at < this.#text.length && this.#text.charCodeAt(this.#at) <= 32) this.#at++
  }

  #expect(code: number): void {
    this.#space()
    if (this.#text.charCodeAt(this.#at) !== code) this.#fail(`"${String.fromCharCode(code)}"`)
    this.#at++
  }

  #fail(expected: string): never {
    const nextText = this.#text.slice(this.#at, this.#at + 12)
    const where = nextText === '' ? 'the WKT ends' : `the WKT has "${nextText}" at character ${this.#at + 1}`
    throw new SourceError(`${where} where ${expected} is expected`)
  }
}

type ConvertedType = Exclude<WktType, Geometry['type']>

function isConverted(type: WktType): type is ConvertedType {
  return type in CONVERTED_TYPES
}

function unknownType(keyword: string): SourceError {
  return new SourceError(`the WKT geometry type ${keyword} is not known`)
}

/** ISO WKT: `POINT Z (1 2 3)`. A geometry has heights if any of its positions has one. */
export function writeWkt(geometry: Geometry): string {
  const keyword = geometry.type.toUpperCase()
  if (geometry.type === 'GeometryCollection') {
    if (geometry.geometries.length === 0) return `${keyword} EMPTY`
    const members = geometry.geometries.map(writeWkt).join(',')
    return `${keyword}${geometry.geometries.some(hasZ) ? ' Z' : ''} (${members})`
  }
  if (geometry.coordinates.length === 0) return `${keyword} EMPTY`
  const withZ = hasZ(geometry)
  const body =
    geometry.type === 'Point'
      ? `(${position(geometry.coordinates, withZ)})`
      : geometry.type === 'MultiPoint'
        ? list(geometry.coordinates, (p) => (p.length === 0 ? 'EMPTY' : `(${position(p, withZ)})`))
        : nested(geometry.coordinates, withZ)
  return `${keyword}${withZ ? ' Z' : ''} ${body}`
}

type Lines = Position[] | Position[][] | Position[][][]

function nested(lines: Lines, withZ: boolean): string {
  if (lines.length === 0) return 'EMPTY'
  const first = lines[0]!
  return typeof first[0] === 'number'
    ? list(lines as Position[], (p) => position(p, withZ))
    : list(lines as Position[][], (line) => nested(line, withZ))
}

function list<T>(items: T[], write: (item: T) => string): string {
  return `(${items.map(write).join(',')})`
}

function position(p: Position, withZ: boolean): string {
  return withZ ? `${p[0]} ${p[1]} ${p[2] ?? 0}` : `${p[0]} ${p[1]}`
}
