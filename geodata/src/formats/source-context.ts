import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { FeatureStream } from '../feature.ts'
import type { Format } from './format-table.ts'
import type { ByteSource } from './reading/byte-source.ts'
import type { GdalOptions } from './reading/gdal-options.ts'
import type { ReadOptions } from './reading/read-options.ts'
import type { SourceLimits } from './reading/source-limits.ts'

export interface SourceOptions extends ReadOptions {
  /** A name in `FORMATS`; detected from the file's content if absent. */
  format?: string
  /** The layer of a GeoPackage, the sheet of a workbook, the shapefile or file in a zip. */
  layer?: string
  /** The CRS chosen by the publisher; with it, coordinates need not be degrees. */
  crs?: string
  limits?: Partial<SourceLimits>
  /** The original file name, if `path` is a temporary file. */
  originalName?: string
  /** Several files whose rows are read together; `name` is the path with the folders of a partition. */
  parts?: { path: string; name: string; file: string }[]
  /** The file is still being written. Its format states its end; others are read for ever. */
  grows?: boolean
  /** Where to unpack a file that must be on disk to be read; by default the system's temporary folder. */
  scratchFolder?: string
  /** How to run GDAL for formats without a reader of our own. */
  gdal?: GdalOptions
  /** The memory limit of a database that reads the file, in megabytes. */
  databaseMegabytes?: number
}

export interface OpenedSource extends FeatureStream {
  /** The name of its format in `FORMATS`. */
  readonly format: string
}

/** The options and what has to be removed or closed once the source has been read. */
export interface SourceContext extends SourceOptions {
  limits: SourceLimits
  requestedFormat: Format | null
  isFormatChosen: boolean
  /** Whether the file was received under another name, without any files that belong to it. */
  isAlone: boolean
  cleanups: (() => unknown)[]
}

export async function cleanUp({ cleanups }: SourceContext): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
}

/** A new temporary folder that is removed after reading. */
export async function temporaryFolder(context: SourceContext): Promise<string> {
  const folder = await mkdtemp(join(context.scratchFolder ?? tmpdir(), 'unpacked-'))
  context.cleanups.push(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Writes a source to a temporary file for readers that need one. */
export async function onDisk(source: ByteSource, name: string, context: SourceContext): Promise<string> {
  const path = join(await temporaryFolder(context), basename(name))
  await pipeline(source.bytes, createWriteStream(path))
  return path
}
