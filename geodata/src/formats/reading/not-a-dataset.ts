import { SourceError } from '../../source-error.ts'

/** What a file is that cannot be a dataset, by its first bytes. */
const SIGNATURES: [bytes: string, what: string][] = [
  ['%PDF-', 'a PDF document'],
  ['\x89PNG', 'a PNG image'],
  ['\xff\xd8\xff', 'a JPEG image'],
  ['GIF8', 'a GIF image'],
  ['II*\0', 'a TIFF image; rasters cannot be published'],
  ['MM\0*', 'a TIFF image; rasters cannot be published'],
  ['II+\0', 'a TIFF image; rasters cannot be published'],
  ['\x89HDF', 'an HDF5 or NetCDF file; rasters and arrays cannot be published'],
  ['CDF\x01', 'a NetCDF file; rasters and arrays cannot be published'],
  ['CDF\x02', 'a NetCDF file; rasters and arrays cannot be published'],
  ['GRIB', 'a GRIB file; rasters cannot be published'],
  ['PMTiles', 'an archive of map tiles, not their source'],
  ['LASF', 'a LAS point cloud, which cannot be published'],
  ['PGDMP', 'a dump of a PostgreSQL database. Export its table as GeoPackage or CSV'],
  [
    'AutoCAD Binary DXF',
    'a DXF drawing, which has no table of features. Convert its layers with a GIS first',
  ],
  ['AC10', 'a DWG drawing, which has no table of features. Convert its layers with a GIS first'],
  ["7z\xbc\xaf'\x1c", 'a 7-Zip archive. Publish the file itself, or a zip of it'],
  ['Rar!', 'a RAR archive. Publish the file itself, or a zip of it'],
  ['BZh', 'compressed with bzip2. Publish the file itself, or compress it with gzip, zip or zstd'],
  ['\xfd7zXZ', 'compressed with xz. Publish the file itself, or compress it with gzip, zip or zstd'],
  ['\x7fELF', 'a program'],
  ['MZ', 'a program for Windows'],
  ['{\\rtf', 'an RTF document'],
  ['RDX', 'an R data file. Export the table as CSV, Parquet or GeoPackage'],
]

/** Refuses content that is clearly something else than a dataset, and says what it is. */
export function refuseNonDataset(head: Buffer, isBinary: boolean, file: string): void {
  const start = head.toString('latin1', 0, 1 << 12)
  // A table may begin with letters like MZ, so most signatures only count in a file that is not text.
  for (const [bytes, what] of SIGNATURES)
    if ((isBinary || /^[%{]/.test(bytes)) && start.startsWith(bytes))
      throw new SourceError(`${file} is ${what}.`)
  const text = start.replace(/^\xef\xbb\xbf/, '').trimStart()
  if (/^(<!--((?!-->).)*-->\s*)*(<!doctype html|<html[\s>])/is.test(text))
    throw new SourceError(
      `${file} is an HTML page, not a dataset. Perhaps a download link led to a page instead of the file.`,
    )
  if (/^(999[ \t]*\r?\n[^\n]*\n\s*)*0[ \t]*\r?\n\s*SECTION\s/.test(text))
    throw new SourceError(
      `${file} is a DXF drawing, which has no table of features. Convert its layers with a GIS first.`,
    )
  if (/^(<\?xml[^>]*>\s*)?<svg[\s>]/i.test(text)) throw new SourceError(`${file} is an SVG image.`)
  if (/^(<\?xml[^>]*>\s*)?<(\w+:)?(ServiceException|ExceptionReport|Error>)/i.test(text))
    throw new SourceError(`${file} is an error message of a service: ${plainText(text)}`)
}

function plainText(xml: string): string {
  const words = xml
    .replace(/<[^>]*>?/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  return JSON.stringify(words.slice(0, 200))
}

export const ERROR_MEMBERS = [
  'error',
  'errors',
  'message',
  'detail',
  'fault',
  'exception',
  'status',
  'statusCode',
  'code',
]

/** Refuses a single JSON object that has no list of rows in it. */
export function refuseSingleObject(value: unknown, file: string): never {
  const members = typeof value === 'object' && value !== null ? (value as { [name: string]: unknown }) : {}
  const names = Object.keys(members)
  const errors = names.filter((name) => ERROR_MEMBERS.includes(name))
  if (errors.length > 0 && names.length <= 12) {
    const message = errors.map((name) => members[name]).find((each) => typeof each === 'string')
    const said = message === undefined ? '' : `: ${JSON.stringify(String(message).slice(0, 200))}`
    throw new SourceError(`${file} holds no rows; it looks like an error message of a service${said}.`)
  }
  throw new SourceError(
    `${file} holds one JSON object and no list of rows. If the object is a row, put it into an array.`,
  )
}
