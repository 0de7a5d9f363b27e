import {
  columnCode,
  FeatureSlices,
  FlatGeometry,
  featureBound,
  layerType,
  MAGIC,
  putFeature,
  putProperties,
  type Room,
  sizePrefixed,
  type TableField,
} from '@wayleave/geodata/features'
import { clipLatitudes, GEOMETRY_TYPES, type Geometry, geometryText } from '@wayleave/geodata/geometry'
import { exportColumns, type Manifest, RowSlices } from '@wayleave/geodata/snapshot'
import { PageBytes } from '@wayleave/query'
import type { Crs } from '../request/crs-list.ts'
import { CRS84 } from '../request/crs-list.ts'
import { integerSizesOf } from './integer-sizes-of.ts'
import type { PageContent, WritePage } from './page-content.ts'
import { rewriteFeatures } from './rewrite-features.ts'

/**
 * Writes FlatGeobuf without an index, because pages are read completely. Positions are x first in every CRS.
 */
export const writeFlatgeobuf: WritePage = async (content) => {
  const { manifest, query, folder, work, until } = content
  const sizes = await integerSizesOf(folder, manifest)
  const all = exportColumns(manifest)
  const own = all.length - manifest.columns.length
  const shown = query.shown ?? manifest.columns.map((_, i) => i)
  // The id, if it is a column, is always among the columns.
  const places = [...all.keys().take(own), ...shown.map((column) => column + own)]
  const columns = places.map((place) => all[place]!)
  const codes = places.map((place) => columnCode(all[place]!, sizes[place] ?? null))
  const block = await rewriteFeatures(
    content.block,
    manifest,
    { crs: CRS84, shown: query.shown },
    work,
    until,
  )
  const page = new PageBytes(block.bytes.length + 1024)
  const slices = new FeatureSlices()
  const values = new RowSlices({ ...manifest, columns: columns.slice(own) })
  const geometry = new FlatGeometry()
  const { multi } = layerType(manifest)
  const { bytes } = block
  const writeFeature = (i: number) => {
    slices.locate(bytes, block.starts[i]!, block.ends[i]!)
    values.locateRow(bytes, slices)
    const located = readGeometry(geometry, bytes, slices, query.crs)
    if (multi) geometry.promote()
    const bound = (slices.propertiesEnd - slices.idStart) * 2 + codes.length * 16
    const room = roomOf(bound + (located ? featureBound(geometry) : 0) + 256)
    putFeature(room, located ? geometry : null, manifest.hasZ, (at) =>
      putProperties(room, at, bytes, values, codes),
    )
    page.copy(room.buffer, 0, room.at)
  }
  const returned = await work.each(block.count, writeFeature, until)
  const body = Buffer.concat([MAGIC, header(content, columns, codes, returned), page.all()])
  return { body, returned }
}

function roomOf(size: number): Room {
  const buffer = Buffer.alloc(size)
  return { buffer, view: new DataView(buffer.buffer, buffer.byteOffset, size), at: 0 }
}

/** Reads a feature's geometry in the CRS. Returns false if there is none that can be represented. */
function readGeometry(geometry: FlatGeometry, bytes: Buffer, slices: FeatureSlices, crs: Crs): boolean {
  if (!geometry.read(bytes, slices.geometryStart)) return false
  const { maxLatitude } = crs
  if (maxLatitude !== null && (geometry.north > maxLatitude || geometry.south < -maxLatitude)) {
    const text = bytes.toString('latin1', slices.geometryStart, slices.geometryEnd)
    geometry.read(Buffer.from(geometryText(clipLatitudes(JSON.parse(text) as Geometry, maxLatitude))), 0)
  }
  return move(geometry, crs)
}

/** Transforms the geometry in place. Returns whether the CRS can represent it. */
function move(geometry: FlatGeometry, crs: Crs): boolean {
  if (crs.fromWgs84 === null) return true
  for (const part of geometry.leaves()) {
    for (let i = 0; i < part.points * 2; i += 2) {
      const [x, y] = crs.fromWgs84([part.xy[i]!, part.xy[i + 1]!]) as [number, number]
      if (!Number.isFinite(x) || !Number.isFinite(y)) return false
      part.xy[i] = x
      part.xy[i + 1] = y
    }
  }
  return true
}

function header(
  { manifest, dataset, query }: PageContent,
  columns: Manifest['columns'],
  codes: number[],
  returned: number,
): Buffer {
  const layer = layerType(manifest).type
  const code = query.crs.fromWgs84 === null ? 4326 : Number(query.crs.code.slice('EPSG:'.length))
  const column = (name: string, type: number): TableField[] => [{ text: name }, { u8: type }]
  return sizePrefixed([
    { text: dataset.table },
    null,
    { u8: layer === null || layer === 'Geometry' ? 0 : GEOMETRY_TYPES.indexOf(layer) + 1 },
    { u8: manifest.hasZ ? 1 : 0 },
    null,
    null,
    null,
    columns.length > 0 ? { tables: columns.map(({ name }, i) => column(name, codes[i]!)) } : null,
    { u64: returned },
    { u16: 0 },
    layer === null ? null : { table: [{ text: 'EPSG' }, { i32: code }] },
    { text: dataset.title },
  ])
}
