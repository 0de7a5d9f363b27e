import type { Room } from '@wayleave/geodata/exports/byte-sink.ts'
import { featureBound, putFeature } from '@wayleave/geodata/exports/flatgeobuf/feature-encoder.ts'
import { columnCode, putProperties } from '@wayleave/geodata/exports/flatgeobuf/properties.ts'
import { MAGIC, sizePrefixed, type TableField } from '@wayleave/geodata/exports/flatgeobuf/table.ts'
import { FlatGeometry } from '@wayleave/geodata/exports/geometry/flat-geometry.ts'
import { layerType } from '@wayleave/geodata/exports/geometry/layer-type.ts'
import { type IntegerSize, integerSizes } from '@wayleave/geodata/exports/integer-ranges.ts'
import { GEOMETRY_TYPES } from '@wayleave/geodata/feature.ts'
import { FeatureSlices } from '@wayleave/geodata/pack/pack-reader.ts'
import { PropertySlices } from '@wayleave/geodata/pack/property-slices.ts'
import type { Manifest } from '@wayleave/geodata/snapshot/manifest.ts'
import type { Crs } from '../request/crs-list.ts'
import { CRS84 } from '../request/crs-list.ts'
import { takeTurns } from '../select/take-turns.ts'
import { PageBytes } from './page-bytes.ts'
import type { PageContent, WritePage } from './page-content.ts'
import { rewriteFeatures } from './rewrite-features.ts'

/** Cached: a snapshot's integer widths never change, and must be the same on all pages. */
const knownSizes = new WeakMap<Manifest, Promise<(IntegerSize | null)[]>>()

/**
 * Writes FlatGeobuf without an index, because pages are read completely. Positions are x first in every CRS.
 */
export const writeFlatgeobuf: WritePage = async (content) => {
  const { manifest, query, folder, dataset } = content
  let sizes = knownSizes.get(manifest)
  if (!sizes) {
    sizes = integerSizes(folder, manifest, { table: dataset.table, title: dataset.title })
    knownSizes.set(manifest, sizes)
    sizes.catch(() => knownSizes.delete(manifest))
  }
  const all = await sizes
  const shown = query.shown ?? manifest.columns.map((_, i) => i)
  const columns = shown.map((column) => manifest.columns[column]!)
  const codes = shown.map((column) => columnCode(manifest.columns[column]!, all[column] ?? null))
  const block = await rewriteFeatures(content.block, manifest, CRS84, query.shown)
  const page = new PageBytes(block.bytes.length + 1024)
  page.copy(MAGIC)
  page.copy(header(content, columns, codes))
  const slices = new FeatureSlices()
  const values = new PropertySlices(columns)
  const geometry = new FlatGeometry()
  const { multi } = layerType(manifest)
  const { bytes } = block
  await takeTurns(block.count, (i) => {
    slices.locate(bytes, block.starts[i]!, block.ends[i]!)
    values.locate(bytes, slices.propertiesStart, slices.propertiesEnd)
    const located = geometry.read(bytes, slices.geometryStart) && move(geometry, query.crs)
    if (multi) geometry.promote()
    const bound = (slices.propertiesEnd - slices.propertiesStart) * 2 + codes.length * 16
    const room = roomOf(bound + (located ? featureBound(geometry) : 0) + 256)
    putFeature(room, located ? geometry : null, manifest.hasZ, (at) =>
      putProperties(room, at, bytes, values, codes),
    )
    page.copy(room.buffer, 0, room.at)
  })
  return page.all()
}

function roomOf(size: number): Room {
  const buffer = Buffer.alloc(size)
  return { buffer, view: new DataView(buffer.buffer, buffer.byteOffset, size), at: 0 }
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
  { manifest, dataset, query, head }: PageContent,
  columns: Manifest['columns'],
  codes: number[],
): Buffer {
  const layer = layerType(manifest).type
  const code = query.crs === CRS84 ? 4326 : Number(query.crs.code.slice('EPSG:'.length))
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
    { u64: head.returned },
    { u16: 0 },
    layer === null ? null : { table: [{ text: 'EPSG' }, { i32: code }] },
    { text: dataset.title },
  ])
}
