import {
  EXPORT_FORMAT_NAMES,
  EXPORT_FORMATS,
  type ExportFormat,
  type ExportFormatRow,
} from '@wayleave/contract/export-formats'
import { type Manifest, SNAPSHOT_FILES } from '../snapshot/manifest.ts'
import { readManifest } from '../snapshot/read-manifest.ts'
import { hasRenamedRows } from '../snapshot/row-names.ts'
import { verifyFilesFast } from '../snapshot/verify.ts'
import type { ExportOptions } from './export-options.ts'
import { type BuiltFile, writeAtomically } from './write-atomically.ts'

type Writer = (
  folder: string,
  manifest: Manifest,
  partial: string,
  options: ExportOptions,
) => Promise<string | undefined>

interface ExportWriter {
  /** Whether the snapshot already contains it, so that nothing is built: see geojson.ts, geoparquet.ts. */
  ready: boolean
  /** The files of the snapshot that the writer reads; they are verified before it runs. */
  reads: readonly string[]
  /** Null if another folder builds the format. */
  writer: (() => Promise<Writer>) | null
}

/** See docs/decisions/export-generations.md. */
export interface ExportFormatEntry extends ExportFormatRow, ExportWriter {
  format: ExportFormat
}

/**
 * The generation of exports that this program writes. It increases when the writers make something else of the
 * same snapshot: while servers of two versions share a folder, an older one may have built the export.
 */
export const EXPORT_GENERATION = 2

/**
 * The generation that exports of a snapshot need. The first one is enough if its exports have no ids and no
 * column has another name in rows.
 */
export function exportGeneration({
  id,
  columns,
  geometryType,
}: Pick<Manifest, 'id' | 'columns' | 'geometryType'>): number {
  return id.isRowNumber === false || hasRenamedRows(columns, geometryType !== null) ? EXPORT_GENERATION : 1
}

const { pack, rows, points } = SNAPSHOT_FILES

/**
 * The writer of every format in the contract's table. A writer and its dependencies are imported when it is
 * first called.
 */
const WRITERS: Record<ExportFormat, ExportWriter> = {
  csv: built(async () => (await import('./csv/csv.ts')).writeCsv),
  json: built(async () => (await import('./json.ts')).writeJson),
  geojson: {
    ready: true,
    reads: [pack],
    writer: async () => (await import('./geojson.ts')).writeGeojson,
  },
  kml: built(async () => (await import('./kml/kml.ts')).writeKml),
  shp: built(async () => (await import('./shapefile/write-shapefile.ts')).writeShapefile),
  geoparquet: {
    ready: true,
    reads: [rows],
    writer: async () => (await import('./geoparquet.ts')).writeGeoparquet,
  },
  gpkg: built(async () => (await import('./geopackage/write-geopackage.ts')).writeGeopackage),
  fgb: built(async () => (await import('./flatgeobuf/write-flatgeobuf.ts')).writeFlatgeobuf),
  // The archive that serves the tiles: see tiles/build/build-tiles.ts.
  pmtiles: { ready: true, reads: [], writer: null },
}

function built(writer: () => Promise<Writer>): ExportWriter {
  return { ready: false, reads: [pack, rows, points], writer }
}

/** Every download format, in the contract's order. */
export const EXPORT_ENTRIES: readonly ExportFormatEntry[] = EXPORT_FORMAT_NAMES.map((format) => ({
  format,
  ...EXPORT_FORMATS[format],
  ...WRITERS[format],
}))

/**
 * The formats that a dataset can be downloaded in: those that need a geometry are left out for tables, and the
 * archive of tiles for datasets that were published without tiles.
 */
export function exportFormatsOf(
  { geometryType, tiles }: Pick<Manifest, 'geometryType' | 'tiles'>,
  entries = EXPORT_ENTRIES,
): readonly ExportFormatEntry[] {
  if (geometryType === null) return entries.filter(({ needsGeometry }) => !needsGeometry)
  return tiles === false ? entries.filter(({ format }) => format !== 'pmtiles') : entries
}

/**
 * Writes a snapshot in a format to `outPath`; the file appears complete or not at all. It uses a core for
 * seconds, so a server calls `buildExportInChildProcess` instead.
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
  const { writer, reads } = WRITERS[format]
  if (!writer) throw new Error(`${format} is not built by this function.`)
  const write = await writer()
  const trusted = manifest ?? (await readManifest(snapshotFolder))
  await verifyFilesFast(snapshotFolder, trusted, [...reads])
  return writeAtomically(outPath, (partial) => write(snapshotFolder, trusted, partial, options))
}
