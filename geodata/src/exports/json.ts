import { copyBytes } from '../bytes/copy-bytes.ts'
import { FeatureSlices, readPack } from '../pack/pack-reader.ts'
import { idColumn } from '../snapshot/feature-ids.ts'
import type { Manifest } from '../snapshot/manifest.ts'
import { RenamedProperties } from '../snapshot/renamed-properties.ts'
import { ByteSink } from './byte-sink.ts'
import type { ExportOptions } from './export-options.ts'
import { PointSource } from './geometry/point-source.ts'

const LONGITUDE = Buffer.from('"longitude":')
const LATITUDE = Buffer.from(',"latitude":')
const GEOMETRY = Buffer.from(',"geometry":')
const NULL = Buffer.from('null')
const COMMA = 0x2c
const NEWLINE = 0x0a
const OPENING_BRACE = 0x7b
const CLOSING_BRACE = 0x7d

/**
 * An array of rows: the id if it is a column, the columns, then `longitude` and `latitude`, and `geometry` for
 * geometries other than points. A row has the members of a feature in the pack in a different layout, so its
 * bytes are copied without parsing.
 */
export async function writeJson(
  folder: string,
  manifest: Manifest,
  partial: string,
  options: ExportOptions,
): Promise<string | undefined> {
  const sink = new ByteSink(partial)
  const points = await PointSource.open(folder, manifest, options)
  try {
    const shapes = manifest.geometryType !== null && manifest.geometryType !== 'Point'
    const slices = new FeatureSlices()
    const properties = new RenamedProperties(manifest)
    const id = idColumn(manifest)
    const idHead = id && Buffer.from(`${JSON.stringify(id.name)}:`)
    const hasColumns = id !== null || manifest.columns.length > 0
    sink.text('[')
    let first = true
    for await (const block of readPack(folder, manifest, options.signal)) {
      const { bytes } = block
      await points?.load(block.count)
      for (let i = 0; i < block.count; i++) {
        const start = block.starts[i]!
        const end = block.ends[i]!
        slices.locate(bytes, start, end)
        sink.reserve(end - start + 128 + properties.extraBytes + (idHead?.length ?? 0))
        const out = sink.buffer
        let at = sink.at
        if (!first) out[at++] = COMMA
        first = false
        out[at++] = NEWLINE
        out[at++] = OPENING_BRACE
        if (idHead !== null) {
          at = copyBytes(idHead, 0, idHead.length, out, at)
          at = copyBytes(bytes, slices.idStart, slices.idEnd, out, at)
          if (manifest.columns.length > 0) out[at++] = COMMA
        }
        at = properties.putMembers(bytes, slices.propertiesStart, slices.propertiesEnd, out, at)
        if (points) {
          if (hasColumns) out[at++] = COMMA
          at = copyBytes(LONGITUDE, 0, LONGITUDE.length, out, at)
          at = points.put(bytes, slices.geometryStart, i, out, at, LATITUDE, NULL)
        }
        if (shapes) {
          at = copyBytes(GEOMETRY, 0, GEOMETRY.length, out, at)
          at = copyBytes(bytes, slices.geometryStart, slices.geometryEnd, out, at)
        }
        out[at++] = CLOSING_BRACE
        sink.at = at
      }
    }
    sink.text('\n]\n')
    return sink.close()
  } finally {
    sink.abandon()
    points?.close()
  }
}
