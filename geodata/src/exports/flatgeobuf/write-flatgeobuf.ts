import { GEOMETRY_TYPES } from '../../feature.ts'
import { FeatureSlices, readPack } from '../../pack/pack-reader.ts'
import { exportColumns } from '../../snapshot/feature-ids.ts'
import type { Manifest } from '../../snapshot/manifest.ts'
import { RowSlices } from '../../snapshot/row-slices.ts'
import { ByteSink } from '../byte-sink.ts'
import type { ExportOptions } from '../export-options.ts'
import { FlatGeometry } from '../geometry/flat-geometry.ts'
import { layerType } from '../geometry/layer-type.ts'
import { integerSizes } from '../integer-ranges.ts'
import { featureBound, putFeature } from './feature-encoder.ts'
import { NODE_SIZE, PackedIndex } from './packed-index.ts'
import { columnCode, putProperties } from './properties.ts'
import { MAGIC, sizePrefixed, type TableField } from './table.ts'

/**
 * FlatGeobuf 3 with its packed Hilbert index, in one pass, because the snapshot already has the order that
 * the index requires. A table without geometry has no index, and its features have no geometry. An empty
 * geometry is written as a missing one, because the format's readers do not support empty geometries.
 */
export async function writeFlatgeobuf(
  folder: string,
  manifest: Manifest,
  partial: string,
  options: ExportOptions,
): Promise<string | undefined> {
  const columns = exportColumns(manifest)
  const sizes = await integerSizes(folder, columns, options)
  const codes = columns.map((column, c) => columnCode(column, sizes[c] ?? null))
  const sink = new ByteSink(partial, { hashed: false })
  try {
    const indexed = manifest.located > 0
    sink.write(MAGIC)
    sink.write(header(manifest, codes, indexed, options))
    const index = indexed ? new PackedIndex(sink, manifest.rows) : null
    const start = sink.length
    const slices = new FeatureSlices()
    const values = new RowSlices(manifest)
    const geometry = new FlatGeometry()
    const { multi } = layerType(manifest)
    for await (const { bytes, count, starts, ends } of readPack(folder, manifest, options.signal)) {
      for (let i = 0; i < count; i++) {
        slices.locate(bytes, starts[i]!, ends[i]!)
        values.locateRow(bytes, slices)
        const located = geometry.read(bytes, slices.geometryStart)
        if (multi) geometry.promote()
        // A value grows most if it is a single digit, which becomes eight bytes with a prefix of six.
        const properties = slices.propertiesEnd - slices.propertiesStart
        const room = (properties + slices.idEnd - slices.idStart) * 2 + codes.length * 16
        sink.reserve(room + (located ? featureBound(geometry) : 0) + 256)
        index?.add(geometry.west, geometry.south, geometry.east, geometry.north, sink.length - start)
        putFeature(sink, located ? geometry : null, manifest.hasZ, (at) =>
          putProperties(sink, at, bytes, values, codes),
        )
      }
    }
    index?.finish()
    return sink.close()
  } finally {
    sink.abandon()
  }
}

function header(manifest: Manifest, codes: number[], indexed: boolean, options: ExportOptions): Buffer {
  const { geometryType, bbox, hasZ, rows } = manifest
  const columns = exportColumns(manifest)
  const layer = layerType(manifest).type
  const about = [options.description, options.attribution, options.license].filter(Boolean).join('\n\n')
  const type = layer === null || layer === 'Geometry' ? 0 : GEOMETRY_TYPES.indexOf(layer) + 1
  const column = (name: string, code: number): TableField[] => [{ text: name }, { u8: code }]
  return sizePrefixed([
    { text: options.table },
    bbox ? { doubles: bbox } : null,
    { u8: type },
    { u8: hasZ ? 1 : 0 },
    null,
    null,
    null,
    columns.length > 0 ? { tables: columns.map(({ name }, c) => column(name, codes[c]!)) } : null,
    { u64: rows },
    { u16: indexed ? NODE_SIZE : 0 },
    geometryType === null ? null : { table: [{ text: 'EPSG' }, { i32: 4326 }, { text: 'WGS 84' }] },
    { text: options.title || options.table },
    about ? { text: about } : null,
  ])
}
