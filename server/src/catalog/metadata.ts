import { EXPORT_FORMATS } from '@wayleave/geodata/exports/index.ts'
import type { Manifest } from '@wayleave/geodata/snapshot/manifest.ts'
import type { TilesState } from '../ogc/tiles/tile-builds.ts'
import type { Dataset, Version } from './dataset.ts'

/** The public metadata of a dataset. */
export function datasetMetadata(dataset: Dataset, baseUrl: string, tiles: TilesState | null) {
  const { table, manifest } = dataset
  return {
    table,
    title: dataset.title,
    description: dataset.description,
    license: dataset.license,
    attribution: dataset.attribution,
    keywords: dataset.keywords,
    geometryType: manifest.geometryType,
    geometryTypes: manifest.geometryTypes,
    bbox: manifest.bbox,
    timeExtent: manifest.timeExtent ?? null,
    rows: manifest.rows,
    columns: manifest.columns,
    version: dataset.version,
    updatedAt: dataset.updatedAt,
    credits: dataset.credits,
    formats: formatsOf(manifest).map(({ format, mediaType }) => ({
      format,
      mediaType,
      url: `${baseUrl}/v1/dataset/${table}/files/${format}`,
    })),
    tiles,
    sample: dataset.hasSample ? `${baseUrl}/v1/dataset/${table}/sample/json` : null,
  }
}

/** Tiles are for features with a place. */
function formatsOf({ located }: Manifest) {
  return EXPORT_FORMATS.filter(({ format }) => format !== 'pmtiles' || located > 0)
}

export function archiveMetadata(table: string, version: Version, current: boolean, baseUrl: string) {
  const { manifest } = version
  return {
    version: version.version,
    current,
    createdAt: version.createdAt,
    rows: manifest.rows,
    geometryType: manifest.geometryType,
    geometryTypes: manifest.geometryTypes,
    bbox: manifest.bbox,
    timeExtent: manifest.timeExtent ?? null,
    columns: manifest.columns,
    formats: formatsOf(manifest).map(({ format, mediaType }) => ({
      format,
      mediaType,
      url: `${baseUrl}/v1/dataset/${table}/archives/${version.version}/files/${format}`,
    })),
  }
}
