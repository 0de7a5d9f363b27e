import type { ArchiveRecord, DatasetRecord } from '@wayleave/contract/records'
import { exportFormatsOf } from '@wayleave/geodata/exports'
import type { Dataset, Version } from './dataset.ts'

/** The public metadata of a dataset. */
export function datasetMetadata(dataset: Dataset, baseUrl: string): DatasetRecord {
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
    formats: exportFormatsOf(manifest).map(({ format, mediaType }) => ({
      format,
      mediaType,
      url: `${baseUrl}/v1/dataset/${table}/files/${format}`,
    })),
    sample: dataset.hasSample ? `${baseUrl}/v1/dataset/${table}/sample/json` : null,
  }
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
    })),
  }
}
