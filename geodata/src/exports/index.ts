import { type Manifest, SNAPSHOT_FILES } from '../snapshot/manifest.ts'
import { readManifest } from '../snapshot/read-manifest.ts'
import { verifyFilesFast } from '../snapshot/verify.ts'
import type { ExportOptions } from './export-options.ts'
import { type BuiltFile, writeAtomically } from './write-atomically.ts'

export type ExportFormat =
  | 'csv'
  | 'json'
  | 'geojson'
  | 'kml'
  | 'shp'
  | 'geoparquet'
  | 'gpkg'
  | 'fgb'
  | 'pmtiles'

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
  /** Whether its files are already compressed, so that a gzip or zstd variant would not save anything. */
  isCompressed: boolean
  /** Whether the snapshot already contains it, so that nothing is built: see geojson.ts, geoparquet.ts. */
  ready: boolean
  writer: () => Promise<Writer>
}

/** Every download format of a dataset. A writer and its dependencies are imported when it is first called. */
export const EXPORT_FORMATS: readonly ExportFormatEntry[] = [
  entry('csv', 'csv', 'text/csv; charset=utf-8', async () => (await import('./csv/csv.ts')).writeCsv),
  entry('json', 'json', 'application/json', async () => (await import('./json.ts')).writeJson),
  {
    ...entry(
      'geojson',
      'geojson',
      'application/geo+json',
      async () => (await import('./geojson.ts')).writeGeojson,
    ),
    ready: true,
  },
  entry(
    'kml',
    'kml',
    'application/vnd.google-earth.kml+xml',
    async () => (await import('./kml/kml.ts')).writeKml,
  ),
  {
    ...entry(
      'shp',
      'shp.zip',
      'application/zip',
      async () => (await import('./shapefile/write-shapefile.ts')).writeShapefile,
    ),
    isCompressed: true,
  },
  {
    ...entry(
      'geoparquet',
      'parquet',
      'application/vnd.apache.parquet',
      async () => (await import('./geoparquet.ts')).writeGeoparquet,
    ),
    isCompressed: true,
    ready: true,
  },
  entry(
    'gpkg',
    'gpkg',
    'application/geopackage+sqlite3',
    async () => (await import('./geopackage/write-geopackage.ts')).writeGeopackage,
  ),
  entry(
    'fgb',
    'fgb',
    'application/vnd.flatgeobuf',
    async () => (await import('./flatgeobuf/write-flatgeobuf.ts')).writeFlatgeobuf,
  ),
  {
    ...entry(
      'pmtiles',
      'pmtiles',
      'application/vnd.pmtiles',
      async () => (await import('../tiles/build-tiles.ts')).writePmtiles,
    ),
    isCompressed: true,
    // The archive that serves the tiles.
    ready: true,
  },
]

function entry(
  format: ExportFormat,
  extension: string,
  mediaType: string,
  writer: () => Promise<Writer>,
): ExportFormatEntry {
  return { format, extension, mediaType, isCompressed: false, ready: false, writer }
}

export function exportFormat(format: string): ExportFormatEntry | undefined {
  return EXPORT_FORMATS.find((known) => known.format === format)
}

/**
 * Writes a snapshot in a format to `outPath`; the file appears complete or not at all. It uses a core for
 * seconds, so a server calls `buildExportInProcess` instead.
 *
 * The files that the writer reads are verified first, so that no export is made from damaged bytes; a
 * DamagedSnapshotError names the damaged file. `manifest` is a copy that the caller trusts more than the one
 * in the folder.
 */
export async function buildExport(
  snapshotFolder: string,
  format: ExportFormat,
  outPath: string,
  options: ExportOptions,
  manifest?: Manifest,
): Promise<BuiltFile> {
  const write = await exportFormat(format)!.writer()
  const trusted = manifest ?? (await readManifest(snapshotFolder))
  await verifyFilesFast(snapshotFolder, trusted, filesReadBy(format))
  return writeAtomically(outPath, (partial) => write(snapshotFolder, trusted, partial, options))
}

function filesReadBy(format: ExportFormat): string[] {
  if (format === 'geojson' || format === 'pmtiles') return [SNAPSHOT_FILES.pack]
  if (format === 'geoparquet') return [SNAPSHOT_FILES.rows]
  return [SNAPSHOT_FILES.pack, SNAPSHOT_FILES.rows, SNAPSHOT_FILES.points]
}
