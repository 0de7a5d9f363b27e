import type { Column } from '../../feature.ts'
import { exportColumns } from '../../snapshot/feature-ids.ts'
import type { Manifest } from '../../snapshot/manifest.ts'
import { ByteSink } from '../byte-sink.ts'
import { encodePack } from '../encode-pack.ts'
import type { ExportOptions } from '../export-options.ts'
import { type IntegerSize, integerSizes } from '../integer-ranges.ts'
import { xmlAttribute, xmlText } from './xml-text.ts'

/** A document with more features says that it is too large for many programs. */
const MANY_FEATURES = 1_000_000

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
  const sizes = await integerSizes(folder, columns)
  const sink = new ByteSink(partial)
  try {
    sink.text(head(manifest, columns, sizes, options))
    const work = { folder, manifest, format: 'kml', table: options.table, sizes } as const
    for await (const { bytes } of encodePack(work, options)) sink.write(bytes)
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
