import type { Manifest } from '../snapshot/manifest.ts'
import { readManifest } from '../snapshot/manifest.ts'
import { writeCsv } from './csv.ts'
import type { ExportOptions } from './export-options.ts'
import { writeFlatgeobuf } from './flatgeobuf/write-flatgeobuf.ts'
import { writeGeojson } from './geojson.ts'
import { writeGeopackage } from './geopackage/write-geopackage.ts'
import { writeGeoparquet } from './geoparquet.ts'
import { writeJson } from './json.ts'
import { writeKml } from './kml.ts'
import { writeShapefile } from './shapefile/write-shapefile.ts'
import { type BuiltFile, writeAtomically } from './write-atomically.ts'

export type ExportFormat = 'csv' | 'json' | 'geojson' | 'kml' | 'shp' | 'geoparquet' | 'gpkg' | 'fgb'

type Writer = (
  folder: string,
  manifest: Manifest,
  partial: string,
  options: ExportOptions,
) => Promise<string | undefined>

export interface ExportFormatEntry {
  format: ExportFormat
  extension: string
  mediaType: string
  /** Whether it makes no sense for a table without geometry. */
  spatialOnly: boolean
  /** Whether the snapshot holds it already, so that nothing need be built: see geojson.ts and geoparquet.ts. */
  ready: boolean
  write: Writer
}

/** Every format a dataset can be downloaded in. */
export const EXPORT_FORMATS: readonly ExportFormatEntry[] = [
  entry('csv', 'csv', 'text/csv; charset=utf-8', writeCsv),
  entry('json', 'json', 'application/json', writeJson),
  entry('geojson', 'geojson', 'application/geo+json', writeGeojson, true),
  entry('kml', 'kml', 'application/vnd.google-earth.kml+xml', writeKml),
  entry('shp', 'shp.zip', 'application/zip', writeShapefile),
  entry('geoparquet', 'parquet', 'application/vnd.apache.parquet', writeGeoparquet, true),
  entry('gpkg', 'gpkg', 'application/geopackage+sqlite3', writeGeopackage),
  entry('fgb', 'fgb', 'application/vnd.flatgeobuf', writeFlatgeobuf),
]

function entry(
  format: ExportFormat,
  extension: string,
  mediaType: string,
  write: Writer,
  ready = false,
): ExportFormatEntry {
  return { format, extension, mediaType, spatialOnly: false, ready, write }
}

export function exportFormat(format: string): ExportFormatEntry | undefined {
  return EXPORT_FORMATS.find((known) => known.format === format)
}

/**
 * Writes a snapshot in a format to `outPath`, which appears whole or not at all. It keeps a core busy for
 * seconds: a server calls `buildExportInProcess` instead.
 */
export async function buildExport(
  snapshotFolder: string,
  format: ExportFormat,
  outPath: string,
  options: ExportOptions,
): Promise<BuiltFile> {
  const { write } = exportFormat(format)!
  const manifest = await readManifest(snapshotFolder)
  return writeAtomically(outPath, (partial) => write(snapshotFolder, manifest, partial, options))
}
