import { GEOMETRY_TYPES } from '../../feature.ts'
import { exportColumns } from '../../snapshot/feature-ids.ts'
import type { Manifest } from '../../snapshot/manifest.ts'
import { ByteSink } from '../byte-sink.ts'
import { encodePack } from '../encode-pack.ts'
import type { ExportOptions } from '../export-options.ts'
import { layerType } from '../geometry/layer-type.ts'
import { integerSizes } from '../integer-ranges.ts'
import { NODE_SIZE, PackedIndex } from './packed-index.ts'
import { columnCode } from './properties.ts'
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
  const sizes = await integerSizes(folder, columns)
  const codes = columns.map((column, c) => columnCode(column, sizes[c] ?? null))
  const sink = new ByteSink(partial, { hashed: false })
  try {
    const indexed = manifest.located > 0
    sink.write(MAGIC)
    sink.write(header(manifest, codes, indexed, options))
    const index = indexed ? new PackedIndex(sink, manifest.rows) : null
    const work = { folder, manifest, format: 'fgb', table: options.table, sizes } as const
    let offset = 0
    for await (const { count, bytes, lengths, boxes } of encodePack(work, options)) {
      for (let i = 0; i < count; i++) {
        const at = i * 4
        index?.add(boxes[at]!, boxes[at + 1]!, boxes[at + 2]!, boxes[at + 3]!, offset)
        offset += lengths[i]!
      }
      sink.write(bytes)
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
