import type { Bbox } from '../../geometry/bbox.ts'
import { MAX_LATITUDE } from '../web-mercator.ts'

/** The header of a PMTiles 3 archive, https://github.com/protomaps/PMTiles, spec v3. */
export const HEADER_BYTES = 127
/** Header and root directory together; readers fetch this much at once. */
export const HEAD_BYTES = 16_384

const MAGIC = 'PMTiles'
const VERSION = 3
const GZIP = 2
const MVT = 1
/** In the unit of the header, rounded down. */
const LAST_LATITUDE = Math.floor(MAX_LATITUDE * 1e7) / 1e7

export interface Part {
  offset: number
  length: number
}

export interface PmtilesHeader {
  root: Part
  metadata: Part
  leaves: Part
  data: Part
  /** How many tiles there are, how many entries, and how many different contents. */
  tiles: number
  entries: number
  contents: number
  minZoom: number
  maxZoom: number
  bounds: Bbox
}

export function writeHeader(header: PmtilesHeader): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES)
  bytes.write(MAGIC, 0, 'latin1')
  bytes[7] = VERSION
  const { root, metadata, leaves, data } = header
  const numbers = [root, metadata, leaves, data].flatMap(({ offset, length }) => [offset, length])
  numbers.push(header.tiles, header.entries, header.contents)
  numbers.forEach((number, i) => {
    bytes.writeBigUInt64LE(BigInt(number), 8 + i * 8)
  })
  bytes.set([1, GZIP, GZIP, MVT, header.minZoom, header.maxZoom], 96)
  const [west, south, east, north] = header.bounds
  const edges = [west, latitudeOfTiles(south), east, latitudeOfTiles(north)] as const
  edges.forEach((degree, i) => {
    bytes.writeInt32LE(Math.round(degree * 1e7), 102 + i * 4)
  })
  bytes[118] = header.minZoom
  bytes.writeInt32LE(Math.round(((west + east) / 2) * 1e7), 119)
  bytes.writeInt32LE(Math.round(((edges[1] + edges[3]) / 2) * 1e7), 123)
  return bytes
}

/** The latitude nearest to it that tiles have: GDAL finds no features in an archive whose bounds are beyond it. */
function latitudeOfTiles(degree: number): number {
  return Math.max(-LAST_LATITUDE, Math.min(LAST_LATITUDE, degree))
}

/** Throws if the bytes are not the head of an archive of gzipped MVT tiles. */
export function readHeader(bytes: Buffer): PmtilesHeader {
  const isOurs =
    bytes.length >= HEADER_BYTES &&
    bytes.toString('latin1', 0, MAGIC.length) === MAGIC &&
    bytes[7] === VERSION &&
    bytes[97] === GZIP &&
    bytes[98] === GZIP &&
    bytes[99] === MVT
  if (!isOurs) throw new Error('the file is not a PMTiles 3 archive of gzipped vector tiles')
  const number = (i: number) => Number(bytes.readBigUInt64LE(8 + i * 8))
  const part = (i: number): Part => ({ offset: number(i * 2), length: number(i * 2 + 1) })
  const degree = (i: number) => bytes.readInt32LE(102 + i * 4) / 1e7
  return {
    root: part(0),
    metadata: part(1),
    leaves: part(2),
    data: part(3),
    tiles: number(8),
    entries: number(9),
    contents: number(10),
    minZoom: bytes[100]!,
    maxZoom: bytes[101]!,
    bounds: [degree(0), degree(1), degree(2), degree(3)],
  }
}
