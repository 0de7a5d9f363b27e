import { FeatureSlices, readPack } from '../../pack/pack-reader.ts'
import { exportColumns } from '../../snapshot/feature-ids.ts'
import type { Manifest } from '../../snapshot/manifest.ts'
import { rowNames } from '../../snapshot/row-names.ts'
import { RowSlices } from '../../snapshot/row-slices.ts'
import { ByteSink } from '../byte-sink.ts'
import type { ExportOptions } from '../export-options.ts'
import { PointSource } from '../geometry/point-source.ts'
import { WktWriter } from '../geometry/wkt-writer.ts'
import { CSV_LINE_END, csvCell, putCsvValue, withoutFormula } from './csv-value.ts'

const COMMA = 0x2c
const QUOTE = 0x22
const CARRIAGE_RETURN = 0x0d
const LINE_FEED = 0x0a
const NULL = 0x6e

/**
 * RFC 4180 with a header, in UTF-8, in the same dialect as CSV pages of features: lines end with CRLF, null
 * is an empty cell and an empty text is `""`. A text that a spreadsheet would execute is changed only with
 * `escapeFormulas`.
 *
 * The bytes are copied from features.pack, whose values are already formatted; this is faster than formatting
 * values from Parquet.
 */
export async function writeCsv(
  folder: string,
  manifest: Manifest,
  partial: string,
  options: ExportOptions,
): Promise<string | undefined> {
  const sink = new ByteSink(partial)
  const points = await PointSource.open(folder, manifest, options)
  try {
    const { escapeFormulas = false } = options
    const spatial = manifest.geometryType !== null
    const shapes = spatial && manifest.geometryType !== 'Point'
    const columns = exportColumns(manifest)
    const names = rowNames(columns, spatial)
    if (spatial) names.push('longitude', 'latitude')
    if (shapes) names.push('geometry')
    sink.text(
      names.map((name) => csvCell(escapeFormulas ? withoutFormula(name) : name)).join(',') + CSV_LINE_END,
    )

    const json = columns.map((column) => column.type === 'json')
    const slices = new FeatureSlices()
    const values = new RowSlices(manifest)
    const wkt = new WktWriter(manifest.hasZ)
    for await (const block of readPack(folder, manifest, options.signal)) {
      const { bytes } = block
      await points?.load(block.count)
      for (let i = 0; i < block.count; i++) {
        const start = block.starts[i]!
        const end = block.ends[i]!
        slices.locate(bytes, start, end)
        values.locateRow(bytes, slices)
        sink.reserve((end - start) * 2 + json.length * 3 + 64)
        const out = sink.buffer
        let at = sink.at
        for (let c = 0; c < json.length; c++) {
          if (c > 0) out[at++] = COMMA
          at = putCsvValue(
            bytes,
            values.starts[c]!,
            values.ends[c]!,
            values.escaped[c]!,
            json[c]!,
            out,
            at,
            escapeFormulas,
          )
        }
        if (points) {
          if (json.length > 0) out[at++] = COMMA
          at = points.put(bytes, slices.geometryStart, i, out, at, COMMA_BYTES, NOTHING)
        }
        if (shapes) {
          out[at++] = COMMA
          if (bytes[slices.geometryStart] !== NULL) {
            out[at++] = QUOTE
            at = wkt.put(bytes, slices.geometryStart, slices.geometryEnd, out, at)
            out[at++] = QUOTE
          }
        }
        out[at++] = CARRIAGE_RETURN
        out[at++] = LINE_FEED
        sink.at = at
      }
    }
    return sink.close()
  } finally {
    sink.abandon()
    points?.close()
  }
}

const COMMA_BYTES = Buffer.from(',')
const NOTHING = Buffer.alloc(0)
