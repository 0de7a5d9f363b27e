import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { type FeatureStream, isUnreadable } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import { openGeopackage } from '../geopackage/geopackage.ts'
import { DEFAULT_GDAL, type GdalOptions } from '../reading/gdal-options.ts'
import { refuseLink } from '../reading/refuse-link.ts'
import { sourceBytes } from '../reading/source-bytes.ts'
import { maxValueBytes, type SourceLimits } from '../reading/source-limits.ts'
import { FID_COLUMN, GEOMETRY_COLUMN } from './converted-names.ts'
import { sortMessages } from './gdal-messages.ts'
import { crsOfGml, isLeftInFileOrder } from './gml-crs.ts'
import { geometryElementNotes, gmlSource, layerSrsNames, removeSchema } from './gml-source.ts'
import { withLists } from './list-columns.ts'
import { makeLink } from './make-link.ts'
import { mapinfoSource } from './mapinfo-source.ts'
import { MissingProgramError, otherDrivers, type RunPlace, runOgr2ogr } from './run-ogr2ogr.ts'

/** A GeoPackage is larger than the values in it: it has keys, pages that are not full, and headers of geometries. */
const CONVERTED_FACTOR = 2

export interface OpenWithGdalOptions {
  driver: string
  title: string
  hasIds: boolean
  layer?: string
  encoding?: string
  crs?: string
  limits: SourceLimits
  gdal?: GdalOptions
  scratchFolder?: string
  isAlone: boolean
}

/**
 * Converts a file to GeoPackage with `ogr2ogr` and reads that. The converted file is in a temporary folder,
 * which is removed after reading.
 */
export async function openWithGdal(
  path: string,
  file: string,
  options: OpenWithGdalOptions,
): Promise<FeatureStream> {
  const { program, ...limits } = options.gdal ?? DEFAULT_GDAL
  if (program === null)
    throw new SourceError(
      `${file} is ${options.title}, which is read with GDAL, and its use is turned off here. Convert the file to GeoPackage.`,
    )
  const folder = await mkdtemp(join(resolve(options.scratchFolder ?? tmpdir()), 'gdal-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    const gdal = { program, ...limits }
    const converted = join(folder, 'converted.gpkg')
    const skippedDrivers = await otherDrivers([options.driver, 'GPKG'], gdal, { folder, file })
    const source = await sourceFor(resolve(path), file, folder, options)
    const fileBytes = await sourceBytes(path)
    const maxFileBytes = maxValueBytes(fileBytes, options.limits) * CONVERTED_FACTOR
    const run = { ...gdal, folder, file, skippedDrivers, maxFileBytes }
    const messages = await convert(source, converted, options, run)
    const encodingAdvice =
      options.driver === 'MapInfo File'
        ? 'Name its encoding with --encoding, such as --encoding windows-1251.'
        : 'Convert the file to GeoPackage, whose text is UTF-8.'
    const { notes, listColumns } = sortMessages(messages, file, encodingAdvice)
    const opened = await openGeopackage(converted, file, options)
    const stream = withLists(await withCrs(opened, source, file, options), listColumns)
    // All values of GML are texts, whose types are found as those of CSV.
    if (options.driver === 'GML')
      for (const column of stream.columns) if (column.type === 'text') column.type = 'infer-text'
    refuseDamagedNames(stream, file, encodingAdvice)
    stream.notes.push(`The file was read with GDAL, as ${options.driver}.`, ...notes)
    if (options.driver === 'GML') stream.notes.push(...(await geometryElementNotes(folder, options.layer)))
    const batches = stream.batches.bind(stream)
    stream.batches = async function* () {
      try {
        for await (const batch of batches()) {
          if (!options.hasIds) for (const row of batch) if (!isUnreadable(row)) row.id = null
          yield batch
        }
      } finally {
        await remove()
      }
    }
    return stream
  } catch (error) {
    await remove()
    throw explained(error, file, options, program)
  }
}

/**
 * The path for GDAL: always in a folder of its own, because GDAL looks for files beside it and writes some there,
 * and with the extension by which GDAL knows the format.
 */
async function sourceFor(
  path: string,
  file: string,
  folder: string,
  { driver, encoding, isAlone }: OpenWithGdalOptions,
): Promise<string> {
  if (driver === 'MapInfo File') return mapinfoSource(path, file, { folder, encoding, isAlone })
  if (driver === 'GML') return gmlSource(path, file, folder)
  if (driver === 'OpenFileGDB')
    for (const name of await readdir(path)) await refuseLink(join(path, name), file)
  const link = join(folder, driver === 'OpenFileGDB' ? 'source.gdb' : 'source.xls')
  await makeLink(path, link)
  return link
}

/** The stream with the CRS that a GML names, if GDAL did not find it. */
async function withCrs(
  stream: FeatureStream,
  source: string,
  file: string,
  { driver, crs }: OpenWithGdalOptions,
): Promise<FeatureStream> {
  const hasCrs = stream.crs !== null && !/^(LOCAL_CS|ENGCRS)\b/.test(stream.crs)
  if (driver !== 'GML' || crs !== undefined || hasCrs || !stream.spatial) return stream
  const namedCrs = await crsOfGml(source, file)
  return namedCrs === null ? stream : Object.assign(stream, { crs: namedCrs })
}

/** GDAL reports values that are not UTF-8, but not names of columns. */
function refuseDamagedNames({ columns }: FeatureStream, file: string, advice: string): void {
  if (columns.some(({ name }) => name.includes('\ufffd')))
    throw new SourceError(`${file} has names of columns that cannot be decoded. ${advice}`)
}

type Run = GdalOptions & RunPlace & { program: string }

/** Converts the layer, or all layers, and returns GDAL's messages. */
async function convert(
  source: string,
  converted: string,
  options: OpenWithGdalOptions,
  run: Run,
): Promise<string[]> {
  const messages = await convertOnce(source, converted, options, run)
  if (options.driver !== 'GML' || !(await layerSrsNames(run.folder)).some(isLeftInFileOrder)) return messages
  await Promise.all([rm(converted, { force: true }), removeSchema(run.folder)])
  return convertOnce(source, converted, options, { ...run, swapsAxes: true })
}

async function convertOnce(
  source: string,
  converted: string,
  { layer, hasIds, driver }: OpenWithGdalOptions,
  run: Run,
): Promise<string[]> {
  const args = [
    ...['-f', 'GPKG', converted, source],
    ...['-lco', 'SPATIAL_INDEX=NO', '-lco', `FID=${FID_COLUMN}`, '-lco', `GEOMETRY_NAME=${GEOMETRY_COLUMN}`],
    ...['-dim', 'layer_dim', '-gt', '65536'],
    // Features of GML may lack the id that GDAL declares as always there.
    '-forceNullable',
    ...(hasIds ? ['-preserve_fid'] : []),
  ]
  // ogr2ogr would take such a name for an option. All layers are converted, and it is chosen from these.
  if (layer === undefined || layer.startsWith('-')) return runWithDriver(driver, args, run)
  try {
    return await runWithDriver(driver, [...args, layer], run)
  } catch (error) {
    if (!(error instanceof SourceError && /Couldn't fetch requested layer/.test(error.message))) throw error
    // The reader of the converted file lists the layers, which are converted without their features.
    await rm(converted, { force: true })
    return runWithDriver(driver, [...args, '-limit', '0'], run)
  }
}

/**
 * `-if` names the only driver that may open the source, since GDAL 3.7. Older versions refuse it before they open
 * anything; there only the skipped drivers keep a file from being read as something else.
 */
async function runWithDriver(driver: string, args: string[], run: Run): Promise<string[]> {
  try {
    return (await runOgr2ogr(['-if', driver, ...args], run, run)).messages
  } catch (error) {
    if (!(error instanceof SourceError && /Unknown (option|argument).*'-if'/.test(error.message))) throw error
    return (await runOgr2ogr(args, run, run)).messages
  }
}

function explained(
  error: unknown,
  file: string,
  { title, driver }: OpenWithGdalOptions,
  program: string,
): unknown {
  if (error instanceof MissingProgramError)
    return new SourceError(
      `${file} is ${title}, which is read with GDAL, and the program ${basename(program)} is not installed on the server (package gdal-bin). Install it, or convert the file to GeoPackage.`,
    )
  if (
    error instanceof SourceError &&
    /not recognized as being in a supported|Unable to open datasource|No such driver|Unknown driver/i.test(
      error.message,
    )
  )
    return new SourceError(
      `${file} is ${title}, but GDAL cannot open it as such: it may be damaged, files that belong to it may be missing, or the installed GDAL has no driver ${driver}.`,
    )
  return error
}
