import type { Manifest } from '../snapshot/manifest.ts'
import { ByteSink, copyBytes } from './byte-sink.ts'
import type { ExportOptions } from './export-options.ts'
import { FeatureSlices, readPack } from './pack-reader.ts'
import { PointSource } from './point-source.ts'
import { PropertySlices, stringValue } from './property-slices.ts'
import { WktWriter } from './wkt-writer.ts'

const COMMA = 0x2c
const QUOTE = 0x22
const NEWLINE = 0x0a
const NULL = 0x6e

/**
 * RFC 4180 with a header, in UTF-8. Lines end in `\n`, as the tools that read such files line by line expect;
 * every reader of CSV takes it. A null is nothing at all and an empty text is `""`. A value that begins with
 * `=` or `@` stays as it is: data is data.
 *
 * The bytes come from features.pack: its values are finished text already, and copying them is quicker than
 * making them anew from Parquet.
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
    const spatial = manifest.geometryType !== null
    const shapes = spatial && manifest.geometryType !== 'Point'
    const names = manifest.columns.map((column) => column.name)
    if (spatial) names.push('longitude', 'latitude')
    if (shapes) names.push('geometry')
    sink.text(`${names.map(quotedWhereNeeded).join(',')}\n`)

    const json = manifest.columns.map((column) => column.type === 'json')
    const slices = new FeatureSlices()
    const values = new PropertySlices(manifest.columns)
    const wkt = new WktWriter(manifest.hasZ)
    for await (const block of readPack(folder, manifest, options.signal)) {
      const { bytes } = block
      await points?.load(block.count)
      for (let i = 0; i < block.count; i++) {
        const start = block.starts[i]!
        const end = block.ends[i]!
        slices.locate(bytes, start, end)
        values.locate(bytes, slices.propertiesStart, slices.propertiesEnd)
        sink.reserve((end - start) * 2 + json.length * 3 + 64)
        const out = sink.buffer
        let at = sink.at
        for (let c = 0; c < json.length; c++) {
          if (c > 0) out[at++] = COMMA
          at = putValue(bytes, values.starts[c]!, values.ends[c]!, values.escaped[c]!, json[c]!, out, at)
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
        out[at++] = NEWLINE
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

function putValue(
  bytes: Buffer,
  start: number,
  end: number,
  escaped: number,
  json: boolean,
  out: Buffer,
  at: number,
): number {
  const first = bytes[start]
  if (first === NULL) return at
  if (json) return putNested(bytes, start, end, out, at)
  if (first !== QUOTE) return copyBytes(bytes, start, end, out, at)
  if (escaped) return at + out.write(quotedWhereNeeded(stringValue(bytes, start, end)), at)
  // Without an escape there is no quote and no line break in the text: only a comma asks for quotes.
  let comma = end - start === 2
  for (let p = start + 1; p < end - 1; p++) {
    if (bytes[p] === COMMA) {
      comma = true
      break
    }
  }
  return comma ? copyBytes(bytes, start, end, out, at) : copyBytes(bytes, start + 1, end - 1, out, at)
}

function putNested(bytes: Buffer, start: number, end: number, out: Buffer, at: number): number {
  out[at++] = QUOTE
  for (let p = start; p < end; p++) {
    const byte = bytes[p]!
    if (byte === QUOTE) out[at++] = QUOTE
    out[at++] = byte
  }
  out[at++] = QUOTE
  return at
}

function quotedWhereNeeded(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
