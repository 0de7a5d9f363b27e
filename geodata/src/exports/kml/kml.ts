import { copyBytes } from '../../bytes/copy-bytes.ts'
import type { Column } from '../../feature.ts'
import { FeatureSlices, readPack } from '../../pack/pack-reader.ts'
import { stringValue } from '../../pack/property-slices.ts'
import { exportColumns } from '../../snapshot/feature-ids.ts'
import type { Manifest } from '../../snapshot/manifest.ts'
import { RowSlices } from '../../snapshot/row-slices.ts'
import { ByteSink } from '../byte-sink.ts'
import type { ExportOptions } from '../export-options.ts'
import { type IntegerSize, integerSizes } from '../integer-ranges.ts'
import { nameColumn } from '../name-column.ts'
import { Stamp } from '../stamp.ts'
import { KmlGeometryWriter } from './kml-geometry.ts'
import { putXmlText, xmlAttribute, xmlText } from './xml-text.ts'

/** A document with more features says that it is too large for many programs. */
const MANY_FEATURES = 1_000_000

const QUOTE = 0x22
const TRUE = 0x74
const PLACEMARK = new Stamp('<Placemark>')
const NAME = new Stamp('<name>')
const NAME_END = new Stamp('</name>')
const WHEN = new Stamp('<TimeStamp><when>')
const WHEN_END = new Stamp('</when></TimeStamp>')
const DATA_END = new Stamp('</SchemaData></ExtendedData>')
const VALUE_END = new Stamp('</SimpleData>')
const PLACEMARK_END = new Stamp('</Placemark>\n')

/**
 * OGC KML 2.2: one document with a schema, one placemark per feature, and its values as typed data. Text is
 * escaped with entities, never with CDATA; null values are left out. Features without geometry are placemarks
 * without one.
 */
export async function writeKml(
  folder: string,
  manifest: Manifest,
  partial: string,
  options: ExportOptions,
): Promise<string | undefined> {
  const columns = exportColumns(manifest)
  const sizes = await integerSizes(folder, columns, options)
  const sink = new ByteSink(partial)
  try {
    sink.text(head(manifest, columns, sizes, options))
    const name = nameColumn(columns)
    const time = columns.findIndex((column) => column.name === manifest.timeColumn)
    const dataStart = new Stamp(`<ExtendedData><SchemaData schemaUrl="#${options.table}">`)
    const valueStarts = columns.map((column) => new Stamp(`<SimpleData name="${xmlAttribute(column.name)}">`))
    const tagBytes = valueStarts.reduce((sum, start) => sum + start.length + VALUE_END.length, 512)
    const json = columns.map((column) => column.type === 'json')

    const slices = new FeatureSlices()
    const values = new RowSlices(manifest)
    const geometry = new KmlGeometryWriter(sink, manifest.hasZ)
    const putValue = (bytes: Buffer, c: number, out: Buffer, at: number): number => {
      const start = values.starts[c]!
      const end = values.ends[c]!
      const first = bytes[start]
      if (json[c]) return putXmlText(bytes, start, end, out, at)
      if (first === QUOTE) {
        if (values.escaped[c]) return at + out.write(xmlText(stringValue(bytes, start, end)), at)
        return putXmlText(bytes, start + 1, end - 1, out, at)
      }
      // xsd:boolean allows 1 and 0 as well as true and false, and readers that expect a number accept them.
      if (columns[c]!.type === 'boolean') {
        out[at] = first === TRUE ? 0x31 : 0x30
        return at + 1
      }
      return copyBytes(bytes, start, end, out, at)
    }

    for await (const block of readPack(folder, manifest, options.signal)) {
      const { bytes } = block
      for (let i = 0; i < block.count; i++) {
        slices.locate(bytes, block.starts[i]!, block.ends[i]!)
        values.locateRow(bytes, slices)
        // The name and the time are written twice.
        sink.reserve((slices.propertiesEnd - slices.idStart) * 11 + tagBytes)
        const out = sink.buffer
        let at = sink.at
        at = PLACEMARK.put(sink, at)
        if (name >= 0 && !values.isNull(bytes, name)) {
          at = NAME.put(sink, at)
          at = putValue(bytes, name, out, at)
          at = NAME_END.put(sink, at)
        }
        if (time >= 0 && isXmlTime(bytes, values.starts[time]!, values.ends[time]!)) {
          at = WHEN.put(sink, at)
          at = putValue(bytes, time, out, at)
          at = WHEN_END.put(sink, at)
        }
        if (columns.length > 0) {
          at = dataStart.put(sink, at)
          for (let c = 0; c < columns.length; c++) {
            if (values.isNull(bytes, c)) continue
            at = valueStarts[c]!.put(sink, at)
            at = putValue(bytes, c, out, at)
            at = VALUE_END.put(sink, at)
          }
          at = DATA_END.put(sink, at)
        }
        sink.at = at
        geometry.put(bytes, slices.geometryStart, slices.geometryEnd)
        sink.reserve(PLACEMARK_END.length + 4)
        sink.at = PLACEMARK_END.put(sink, sink.at)
      }
    }
    sink.text('</Document>\n</kml>\n')
    return sink.close()
  } finally {
    sink.abandon()
  }
}

function head(
  { rows }: Manifest,
  columns: Column[],
  sizes: (IntegerSize | null)[],
  options: ExportOptions,
): string {
  const { table, title, description, attribution, license } = options
  const about = [description, attribution, license, rows > MANY_FEATURES ? manyFeatures(rows) : null]
    .filter(Boolean)
    .join('\n\n')
  const fields = columns.map((column, c) => {
    const type = simpleFieldType(column, sizes[c] ?? null)
    return `<SimpleField name="${xmlAttribute(column.name)}" type="${type}"/>\n`
  })
  const schema =
    columns.length > 0 ? `<Schema name="${table}" id="${table}">\n${fields.join('')}</Schema>\n` : ''
  return [
    '<?xml version="1.0" encoding="UTF-8"?>\n',
    '<kml xmlns="http://www.opengis.net/kml/2.2">\n',
    `<Document>\n<name>${xmlText(title || table)}</name>\n`,
    about ? `<description>${xmlText(about)}</description>\n` : '',
    schema,
  ].join('')
}

/** KML has neither an index nor parts, and programs such as Google Earth read a document as a whole. */
function manyFeatures(rows: number): string {
  return `This document has ${rows} features. KML has no index, so programs read all of it before they show anything, and many cannot open it. Take FlatGeobuf, GeoPackage or GeoParquet to work with all features.`
}

/** KML's `int` has 32 bits, and a double is not exact beyond 53 bits. */
function simpleFieldType({ type }: Column, size: IntegerSize | null): string {
  if (type === 'boolean') return 'bool'
  if (type === 'number') return 'double'
  if (type !== 'integer') return 'string'
  if (size === 'int32') return 'int'
  return size === 'int53' ? 'double' : 'string'
}

/** `when` requires xsd:dateTime or xsd:date, whose years have four digits and do not include year 0. */
function isXmlTime(bytes: Buffer, start: number, end: number): boolean {
  if (end - start < 12 || bytes[start + 5] !== 0x2d) return false
  let year = 0
  for (let p = start + 1; p < start + 5; p++) {
    const digit = bytes[p]! - 48
    if (digit < 0 || digit > 9) return false
    year = year * 10 + digit
  }
  return year > 0
}
