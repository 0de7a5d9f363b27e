import { type Column, GEOMETRY_TYPES, type Geometry, type Position } from '../../feature.ts'
import { clipLatitudes } from '../../geometry/clip-latitudes.ts'
import { geometryText } from '../../geometry/geometry-text.ts'
import { FeatureSlices } from '../../pack/pack-reader.ts'
import { exportColumns } from '../../snapshot/feature-ids.ts'
import type { Manifest } from '../../snapshot/manifest.ts'
import { RowSlices } from '../../snapshot/row-slices.ts'
import type { Room } from '../encoding/growing-room.ts'
import { FlatGeometry } from '../geometry/flat-geometry.ts'
import { layerType } from '../geometry/layer-type.ts'
import type { IntegerSize } from '../integer-ranges.ts'
import { featureBound, putFeature } from './feature-encoder.ts'
import { columnCode, putProperties } from './properties.ts'
import { MAGIC, sizePrefixed, type TableField } from './table.ts'

interface PageOptions {
  manifest: Manifest
  table: string
  title: string
  /** The columns that are shown, by their places in the manifest; null shows all. */
  shown: readonly number[] | null
  /** By the places of `exportColumns`. */
  integerSizes: readonly (IntegerSize | null)[]
  crs: {
    /** `EPSG:<code>` or `ESRI:<code>`. */
    code: string
    /** Null for WGS84. Its positions have x first, and are not finite if the CRS cannot represent one. */
    fromWgs84: ((position: Position) => Position) | null
    /** The latitude to which geometries are clipped. */
    maxLatitude: number | null
  }
}

/** Writes features of a page as FlatGeobuf without an index, because pages are read completely. */
export class FlatgeobufPage {
  readonly #options: PageOptions
  readonly #columns: Column[]
  readonly #codes: number[]
  readonly #slices = new FeatureSlices()
  readonly #values: RowSlices
  readonly #geometry = new FlatGeometry()

  constructor(options: PageOptions) {
    const { manifest, shown, integerSizes } = options
    const all = exportColumns(manifest)
    const own = all.length - manifest.columns.length
    // The id, if it is a column, is always among the columns.
    const shownPlaces = shown?.map((column) => column + own) ?? [...all.keys()].slice(own)
    const places = [...all.keys()].slice(0, own).concat(shownPlaces)
    this.#options = options
    this.#columns = places.map((place) => all[place]!)
    this.#codes = places.map((place) => columnCode(all[place]!, integerSizes[place] ?? null))
    this.#values = new RowSlices({ ...manifest, columns: this.#columns.slice(own) })
  }

  /** The feature whose GeoJSON in WGS84, with the shown columns, is in these bytes. */
  feature(bytes: Buffer, start: number, end: number): Buffer {
    const { manifest } = this.#options
    const slices = this.#slices
    const geometry = this.#geometry
    const codes = this.#codes
    slices.locate(bytes, start, end)
    this.#values.locateRow(bytes, slices)
    const isLocated = this.#readGeometry(bytes)
    if (layerType(manifest).multi) geometry.promote()
    const bound = (slices.propertiesEnd - slices.idStart) * 2 + codes.length * 16
    const room = roomOf(bound + (isLocated ? featureBound(geometry) : 0) + 256)
    putFeature(room, isLocated ? geometry : null, manifest.hasZ, (at) =>
      putProperties(room, at, bytes, this.#values, codes),
    )
    return room.buffer.subarray(0, room.at)
  }

  /** What comes before this many features. */
  head(features: number): Buffer {
    const { manifest, table, title, crs } = this.#options
    const layer = layerType(manifest).type
    const [authority, code] = crs.code.split(':') as [string, string]
    const column = ({ name }: Column, i: number): TableField[] => [{ text: name }, { u8: this.#codes[i]! }]
    const header = sizePrefixed([
      { text: table },
      null,
      { u8: layer === null || layer === 'Geometry' ? 0 : GEOMETRY_TYPES.indexOf(layer) + 1 },
      { u8: manifest.hasZ ? 1 : 0 },
      null,
      null,
      null,
      this.#columns.length > 0 ? { tables: this.#columns.map(column) } : null,
      { u64: features },
      { u16: 0 },
      layer === null ? null : { table: [{ text: authority }, { i32: Number(code) }] },
      { text: title },
    ])
    return Buffer.concat([MAGIC, header])
  }

  /** Reads the geometry in the CRS. Returns false if there is none that can be represented. */
  #readGeometry(bytes: Buffer): boolean {
    const { maxLatitude } = this.#options.crs
    const { geometryStart, geometryEnd } = this.#slices
    const geometry = this.#geometry
    if (!geometry.read(bytes, geometryStart)) return false
    if (maxLatitude !== null && (geometry.north > maxLatitude || geometry.south < -maxLatitude)) {
      const parsed = JSON.parse(bytes.toString('latin1', geometryStart, geometryEnd)) as Geometry
      geometry.read(Buffer.from(geometryText(clipLatitudes(parsed, maxLatitude))), 0)
    }
    return this.#move()
  }

  /** Transforms the geometry in place. Returns whether the CRS can represent it. */
  #move(): boolean {
    const { fromWgs84 } = this.#options.crs
    if (fromWgs84 === null) return true
    for (const part of this.#geometry.leaves()) {
      for (let i = 0; i < part.points * 2; i += 2) {
        const [x, y] = fromWgs84([part.xy[i]!, part.xy[i + 1]!]) as [number, number]
        if (!Number.isFinite(x) || !Number.isFinite(y)) return false
        part.xy[i] = x
        part.xy[i + 1] = y
      }
    }
    return true
  }
}

function roomOf(size: number): Room {
  const buffer = Buffer.alloc(size)
  return { buffer, view: new DataView(buffer.buffer, buffer.byteOffset, size), at: 0 }
}
