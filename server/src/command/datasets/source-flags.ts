import type { ColumnType } from '@wayleave/geodata/features'
import { type Command, InvalidArgumentError } from 'commander'
import { COLUMN_TYPES, ColumnTypesError, parseColumnTypes } from '../../data/publishing/column-types.ts'
import type { SourceSettings } from '../../data/sources/source-options.ts'

/** The flags that say how a file or an address is read, of `publish`, `inspect` and `source set`. */
export interface FormatFlags {
  idColumn?: string
  timeColumn?: string
  crs?: string
  allowInaccurateCrs?: boolean
  layer?: string
  format?: string
  encoding?: string
  longitude?: string
  latitude?: string
  geometryColumn?: string
  type?: { [column: string]: ColumnType }
}

/** How a source is read. */
export interface SourceFlags extends FormatFlags {
  sourceTable?: string
  query?: string
  sourceHeader?: Record<string, string>
  skipInvalid?: boolean
}

/** What an address needs besides the options of a file. */
export function withAddressFlags(command: Command): Command {
  return command
    .option('--source-table <name>', 'the table or view of a database, as schema.table')
    .option('--query <sql>', 'the query whose rows are read from a database')
    .option(
      '--source-header <header>',
      'a header to send to the address, as "name: value"; may be repeated',
      headerLine,
    )
}

export function withFormatFlags(command: Command): Command {
  return command
    .option('--id-column <name>', 'the column that holds the features’ ids')
    .option('--time-column <name>', 'the column that `datetime` filters')
    .option('--crs <crs>', 'the CRS if the file does not state it, such as EPSG:25832')
    .option('--allow-inaccurate-crs', 'publish although the CRS cannot be brought to WGS84 within 20 m')
    .option('--layer <name>', 'the layer or sheet of a file that has several')
    .option('--format <name>', 'the format if the file does not show it')
    .option('--encoding <name>', 'the encoding of texts if the file does not state it, such as windows-1251')
    .option('--longitude <column>', 'the column of longitudes or x; together with --latitude')
    .option('--latitude <column>', 'the column of latitudes or y')
    .option('--geometry-column <column>', 'the column of WKT, WKB, GeoJSON or points as text')
    .option(
      '--type <column=type>',
      `the type of a column: ${COLUMN_TYPES.join(', ')}; may be repeated`,
      columnTypes,
    )
}

export function withSourceFlags(command: Command): Command {
  return withFormatFlags(withAddressFlags(command)).option(
    '--skip-invalid',
    'publish the valid rows and report the others',
  )
}

export function sourceSettingsOf(flags: SourceFlags): SourceSettings {
  const { sourceTable, query, idColumn, timeColumn, crs, allowInaccurateCrs, layer, format } = flags
  const { encoding, longitude, latitude, geometryColumn, skipInvalid, type: types } = flags
  const settings = {
    ...{ sourceTable, query, idColumn, timeColumn, crs, allowInaccurateCrs, layer, format },
    ...{ encoding, longitude, latitude, geometryColumn, skipInvalid, types },
  }
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
}

function columnTypes(
  text: string,
  previous: { [column: string]: ColumnType } = {},
): { [column: string]: ColumnType } {
  try {
    return { ...previous, ...parseColumnTypes(text) }
  } catch (error) {
    if (error instanceof ColumnTypesError) throw new InvalidArgumentError(error.message)
    throw error
  }
}

function headerLine(text: string, previous: Record<string, string> = {}): Record<string, string> {
  const match = /^([\w-]{1,100}): *([\x20-\x7e]{1,8000})$/.exec(text)
  if (!match) throw new InvalidArgumentError('A header is written as "name: value".')
  return { ...previous, [match[1]!.toLowerCase()]: match[2]! }
}
