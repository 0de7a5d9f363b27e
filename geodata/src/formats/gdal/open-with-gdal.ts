import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { type FeatureStream, isUnreadable } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import { openGeopackage } from '../geopackage/geopackage.ts'
import type { SourceLimits } from '../reading/source-limits.ts'
import { DEFAULT_GDAL, type GdalOptions } from './gdal-options.ts'
import { MissingProgramError, otherDrivers, runOgr2ogr } from './run-ogr2ogr.ts'

export interface OpenWithGdalOptions {
  driver: string
  title: string
  hasIds: boolean
  layer?: string
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
    const args = [
      ...['-f', 'GPKG', converted, resolve(path)],
      ...['-lco', 'SPATIAL_INDEX=NO', '-nlt', 'CONVERT_TO_LINEAR', '-dim', 'layer_dim', '-gt', '65536'],
      // Features of GML may lack the id that GDAL declares as always there.
      '-forceNullable',
      ...(options.layer === undefined ? [] : [options.layer]),
    ]
    await runOgr2ogr(args, gdal, { folder, file, skippedDrivers })
    const stream = await openGeopackage(converted, file, { crs: options.crs, limits: options.limits })
    // All values of GML are texts, whose types are found as those of CSV.
    if (options.driver === 'GML')
      for (const column of stream.columns) if (column.type === 'text') column.type = 'infer-text'
    stream.notes.push(`The file was read with GDAL, as ${options.driver}.`)
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
