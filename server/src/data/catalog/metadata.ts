import type { ArchiveRecord, DatasetRecord } from '@wayleave/contract/records'
import { exportFormatsOf, geojsonParts } from '@wayleave/geodata/exports'
import { type Manifest, SNAPSHOT_FILES } from '@wayleave/geodata/snapshot'
import { isHidden, priceFor } from '../../accounts/access/dataset-access.ts'
import type { Grant } from '../../accounts/access/grant.ts'
import type { Clock } from '../../base/clock.ts'
import type { ListedDataset, ListedVersion, Version } from './dataset.ts'

/** The sizes of the files of a version that are built, by format, in bytes. */
export type FileSizes = ReadonlyMap<string, number>

const NO_SIZES: FileSizes = new Map()

/** The public metadata of a dataset. Without `sizes`, only the sizes that the manifest states are given. */
export function datasetMetadata(
  dataset: ListedDataset,
  baseUrl: string,
  tiles: DatasetRecord['tiles'],
  sizes = NO_SIZES,
): DatasetRecord {
  const { table, manifest } = dataset
  return {
    table,
    title: dataset.title,
    description: dataset.description,
    license: dataset.license,
    attribution: dataset.attribution,
    contact: dataset.contact,
    citation: dataset.citation,
    updateFrequency: dataset.updateFrequency,
    keywords: dataset.keywords,
    geometryType: manifest.geometryType,
    geometryTypes: manifest.geometryTypes,
    bbox: manifest.bbox,
    timeExtent: manifest.timeExtent ?? null,
    rows: manifest.rows,
    columns: describedColumns(dataset),
    idColumn: idColumnOf(manifest),
    version: dataset.version,
    updatedAt: dataset.updatedAt,
    visibility: dataset.visibility,
    owner: dataset.owner,
    credits: dataset.credits,
    extractPrice: dataset.extractPrice,
    formats: exportFormatsOf(manifest).map(({ format, mediaType }) => ({
      format,
      mediaType,
      url: `${baseUrl}/v1/dataset/${table}/files/${format}`,
      bytes: sizes.get(format) ?? storedBytes(dataset, format),
    })),
    tiles,
    sample: dataset.hasSample ? `${baseUrl}/v1/dataset/${table}/sample/json` : null,
  }
}

/** The dataset with the price that the caller pays; null without a key. */
export function pricedFor<D extends ListedDataset>(caller: Grant | null, dataset: D, clock: Clock): D {
  const credits = priceFor(caller, dataset, clock)
  return credits === dataset.credits ? dataset : { ...dataset, credits }
}

/** Shared caches may store what everybody may know, and must revalidate it before each use. */
export function metadataCacheControl(dataset: ListedDataset): string {
  return isHidden(dataset) ? 'private, no-cache' : 'public, no-cache'
}

function idColumnOf({ id }: Pick<Manifest, 'id'>): DatasetRecord['idColumn'] {
  const name = id.name ?? id.column
  return name === null || id.isRowNumber === undefined ? null : { name, type: id.type }
}

export function archiveMetadata(
  table: string,
  version: Version,
  current: boolean,
  baseUrl: string,
): ArchiveRecord {
  const { manifest } = version
  return {
    version: version.version,
    current,
    createdAt: version.createdAt,
    note: version.note,
    changes: version.changes,
    rows: manifest.rows,
    geometryType: manifest.geometryType,
    geometryTypes: manifest.geometryTypes,
    bbox: manifest.bbox,
    timeExtent: manifest.timeExtent ?? null,
    columns: manifest.columns,
    formats: exportFormatsOf(manifest).map(({ format, mediaType }) => ({
      format,
      mediaType,
      url: `${baseUrl}/v1/dataset/${table}/archives/${version.version}/files/${format}`,
      bytes: storedBytes(version, format),
    })),
  }
}

/** The columns with what the publisher says about them. */
export function describedColumns({ manifest, columnNotes }: ListedDataset): DatasetRecord['columns'] {
  return manifest.columns.map((column) => {
    const note = columnNotes.of(column.name)
    return note === undefined ? column : { ...column, ...note }
  })
}

/** GeoParquet and GeoJSON are sent from the snapshot's own files, so their sizes are always known. */
function storedBytes({ manifest }: ListedVersion, format: string): number | null {
  if (format === 'geoparquet') return manifest.files[SNAPSHOT_FILES.rows]?.bytes ?? null
  if (format !== 'geojson') return null
  const { head, tail } = geojsonParts(manifest)
  const pack = manifest.files[SNAPSHOT_FILES.pack]
  return pack ? head.length + pack.bytes + tail.length : null
}
