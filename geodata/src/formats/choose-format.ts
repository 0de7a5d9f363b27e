import { SourceError } from '../source-error.ts'
import { type Format, FORMATS as OWN_FORMATS } from './format-table.ts'
import { GDAL_FORMAT_TABLE } from './gdal-formats.ts'
import { refuseNulInText } from './reading/nul-character.ts'
import type { Kind } from './reading/sniff.ts'

/** All formats: those with a reader of our own, then those that GDAL reads. */
export const FORMATS: Format[] = [...OWN_FORMATS, ...GDAL_FORMAT_TABLE]

/** The format with this name, or the only one with this extension: `gpkg` is `geopackage`. */
export function formatNamed(name: string): Format {
  const format = FORMATS.find((each) => each.name === name.toLowerCase())
  if (format) return format
  const [byExtension, another] = formatsWithExtension(`.${name.toLowerCase()}`)
  if (byExtension && !another) return byExtension
  const names = FORMATS.map((each) => each.name).join(', ')
  throw new SourceError(`Unknown format ${name}. Supported: ${names}.`)
}

export function formatsWithExtension(extension: string): Format[] {
  return FORMATS.filter(({ extensions }) => extensions.includes(extension))
}

const JSON_FORMATS = ['json', 'geojson', 'esrijson', 'topojson']

/** The format of a file that is not compressed. `path` puts the file on disk if its content has to be examined. */
export async function chooseFormat(
  kind: Kind,
  file: string,
  head: Buffer,
  requestedFormat: Format | null,
  path: () => Promise<string>,
): Promise<Format> {
  if (kind === 'empty') throw new SourceError(`${file} is empty.`)
  if (kind === 'tar')
    throw new SourceError(`${file} is a tar archive. Publish the file itself, or a zip of it.`)
  if (/\.(shx|prj|cpg)$/i.test(file) && (kind === 'binary' || kind === 'shapefile' || kind === 'csv'))
    throw new SourceError(
      `${file} is a part of a shapefile. Publish the .shp beside it, or a zip of them all.`,
    )
  const format = FORMATS.find((each) => each.name === kind)
  if (kind === 'geopackage') return chosen(formatNamed(await sqliteFormat(file, path)), requestedFormat, file)
  if (kind === 'xls' && head.includes(Buffer.from('EncryptedPackage', 'utf16le')))
    throw new SourceError(`${file} is a workbook that is protected by a password. Save it without one.`)
  if (format) return chosen(format, requestedFormat, file)
  if (kind === 'binary') refuseNulInText(head, file)
  if (requestedFormat) throw new SourceError(`${file} is not ${requestedFormat.title}.`)
  const titles = OWN_FORMATS.map(({ title }) => title).join(', ')
  const readable = `Supported formats: ${titles} and, with GDAL, ${GDAL_FORMAT_TABLE.map(({ title }) => title).join(', ')}.`
  if (kind === 'xml') throw new SourceError(`${file} is XML, but not KML, GPX or GML. ${readable}`)
  throw new SourceError(`${file} has an unknown format. ${readable}`)
}

function chosen(format: Format, requestedFormat: Format | null, file: string): Format {
  if (requestedFormat === null || requestedFormat === format) return format
  const areJson = JSON_FORMATS.includes(format.name) && JSON_FORMATS.includes(requestedFormat.name)
  // A MapInfo header is text too; as a table of text it makes no sense, but the publisher decides.
  if (areJson || (requestedFormat.name === 'csv' && format.name === 'mapinfo')) return requestedFormat
  throw new SourceError(`${file} is not ${requestedFormat.title}: by its content it is ${format.title}.`)
}

async function sqliteFormat(file: string, path: () => Promise<string>): Promise<string> {
  const { sqliteKind } = await import('./geopackage/sqlite-kind.ts')
  return sqliteKind(await path(), file)
}
