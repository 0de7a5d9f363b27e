import { basename, dirname, extname } from 'node:path'
import { SourceError } from '../source-error.ts'
import { isParquetName } from './parts/source-part.ts'
import type { ByteSource } from './reading/byte-source.ts'
import { chooseLayer } from './reading/choose-layer.ts'
import type { SourceLimits } from './reading/source-limits.ts'
import { withoutGeometry } from './reading/table-geometry.ts'
import { openShapefileParts } from './shapefile/shapefile.ts'
import type { OpenedSource, SourceContext } from './source-context.ts'
import type { ZipArchive } from './zip/zip.ts'

export interface ZipOpeners {
  isReadable(name: string): boolean
  /** Opens one of several files, which `--layer` chose. */
  openFile(source: ByteSource, name: string): Promise<OpenedSource>
  /** Opens the only file, of which `--layer` chooses a layer. */
  openLayered(source: ByteSource, name: string): Promise<OpenedSource>
  /** Opens several files whose rows are read together. */
  openParts(names: string[]): Promise<OpenedSource>
  /** Opens a format that consists of several files, after these were extracted; `main` is one of them or their folder. */
  openExtracted(format: string, names: string[], main: string): Promise<OpenedSource>
}

/** The format of a document that is a zip file itself; null for an ordinary zip. */
export async function documentFormat(archive: ZipArchive): Promise<'xlsx' | 'ods' | null> {
  const { file, names } = archive
  if (names.includes('xl/workbook.xml')) return 'xlsx'
  if (names.includes('xl/workbook.bin'))
    throw new SourceError(`${file} is a binary Excel workbook (.xlsb). Save it as .xlsx or CSV.`)
  if (names.includes('word/document.xml')) throw new SourceError(`${file} is a Word document.`)
  if (names.includes('ppt/presentation.xml')) throw new SourceError(`${file} is a PowerPoint presentation.`)
  if (!names.includes('mimetype') || !names.includes('content.xml')) return null
  const type = (await archive.text('mimetype')).trim()
  if (type.startsWith('application/vnd.oasis.opendocument.spreadsheet')) return 'ods'
  throw new SourceError(`${file} is an OpenDocument file, but not a spreadsheet (${type.slice(0, 80)}).`)
}

/**
 * Opens the content of a zip: a layer of shapefiles, a geodatabase or MapInfo table, Parquet files whose rows are
 * read together, or one other file. If there are several, `layer` selects one by name.
 */
export async function openZip(
  archive: ZipArchive,
  context: SourceContext,
  openers: ZipOpeners,
): Promise<OpenedSource> {
  const { file, names } = archive
  const readable = names.filter(openers.isReadable)
  const databases = [...new Set(names.map(databaseOf).filter((folder) => folder !== null))]
  /** Adds a note about what could be read too, and is neither of the format nor belongs to such a file. */
  const noting = (stream: OpenedSource, isUsed: (name: string) => boolean) => {
    const ignored = [...databases, ...readable].filter((name) => !isUsed(name) && !isAboutData(name))
    if (ignored.length > 0) stream.notes.push(ignoredNote(file, ignored))
    return stream
  }
  const shapes = names.filter((name) => extname(name).toLowerCase() === '.shp')
  if (shapes.length > 0) {
    const layers = shapes.map((path) => ({ name: basename(path, extname(path)), path }))
    const layer = chooseLayer(layers, context.layer, file)
    const stream = await openLayer(archive, layer.path, context)
    const opened = Object.assign(context.geometry === false ? withoutGeometry(stream) : stream, {
      format: 'shapefile',
    })
    const stems = new Set(shapes.map(stem))
    return noting(opened, (name) => stems.has(stem(name)))
  }
  const [database] = databases
  if (database !== undefined) {
    const inside = names.filter(
      (name) => databaseOf(name) === database || dirname(name) === (database || '.'),
    )
    const stream = await openers.openExtracted('filegdb', inside, database)
    return noting(stream, (name) => name === database || inside.includes(name))
  }
  const tables = names.filter((name) => isMapinfo(name, names))
  if (tables.length > 0) {
    const { path } = chooseLayer(
      tables.map((each) => ({ name: basename(each, extname(each)), path: each })),
      context.layer,
      file,
    )
    const siblings = names.filter((name) => stem(name) === stem(path))
    const stems = new Set(tables.map(stem))
    const stream = await openers.openExtracted('mapinfo', siblings, path)
    return noting(stream, (name) => stems.has(stem(name)))
  }
  const main = names.find((name) => /(^|\/)doc\.kml$/i.test(name))
  if (main !== undefined)
    return noting(await openers.openLayered(archive.source(main), main), (name) => name === main)
  if (readable.length === 0) throw new SourceError(`${file} has no file in it that can be read.`)
  if (readable.length === 1) return openers.openLayered(archive.source(readable[0]!), readable[0]!)
  if (context.layer === undefined && readable.every(isParquetName))
    return openers.openParts(readable.filter((name) => !/(^|\/)_/.test(name)))
  const files = readable.map((path) => ({ name: basename(path), path }))
  const { path } = chooseLayer(files, context.layer, file)
  return openers.openFile(archive.source(path), path)
}

/**
 * The folder of the geodatabase that a file is in, which may be the root of the zip (an empty name) or a folder
 * without the usual extension; null if it is in none.
 */
function databaseOf(name: string): string | null {
  const folder = /^(.*?\.gdb)\//i.exec(name)?.[1]
  if (folder !== undefined) return folder
  if (!/^a[0-9a-f]{8}\.gdb\w+$/i.test(basename(name))) return null
  return name.includes('/') ? dirname(name) : ''
}

/** Texts about the data, which are in many archives and are not data themselves. */
function isAboutData(name: string): boolean {
  return /(^|\/)[^/]*(read[ _-]?me|licen[cs]e|copying|copyright|metadata)[^/]*$/i.test(name)
}

const MAX_NAMES = 5

function ignoredNote(file: string, names: string[]): string {
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : ''
  return `${file} also has ${names.slice(0, MAX_NAMES).join(', ')}${more}: ignored. Publish what is missing as a dataset of its own.`
}

function stem(name: string): string {
  return `${dirname(name)}/${basename(name, extname(name))}`.toLowerCase()
}

/** A `.tab` is MapInfo's if its data is beside it; otherwise it is a table separated by tabs. */
function isMapinfo(name: string, names: string[]): boolean {
  const extension = extname(name).toLowerCase()
  if (extension === '.mif') return true
  return (
    extension === '.tab' &&
    names.some((each) => each.toLowerCase() === `${name.slice(0, -4)}.dat`.toLowerCase())
  )
}

async function openLayer(
  archive: ZipArchive,
  shp: string,
  { limits, encoding }: { limits: SourceLimits; encoding?: string },
) {
  const shpStem = shp.slice(0, -extname(shp).length).toLowerCase()
  const part = (extension: string) =>
    archive.names.find((name) => name.toLowerCase() === `${shpStem}${extension}`)
  const text = async (extension: string) => {
    const name = part(extension)
    return name ? await archive.text(name) : null
  }
  const dbf = part('.dbf')
  const [prj, cpg] = [await text('.prj'), await text('.cpg')]
  return openShapefileParts(
    { shp: archive.source(shp), dbf: dbf ? archive.source(dbf) : null, prj, cpg },
    { limits, encoding },
  )
}
