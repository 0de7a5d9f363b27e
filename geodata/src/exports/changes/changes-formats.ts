/** The forms in which the changes between two versions are downloaded, by their names in URLs. */
export const CHANGES_FORMATS = {
  ndjson: {
    format: 'changes-ndjson',
    extension: 'ndjson',
    mediaType: 'application/x-ndjson',
    isCompressed: false,
    ready: false,
  },
  geoparquet: {
    format: 'changes-geoparquet',
    extension: 'parquet',
    mediaType: 'application/vnd.apache.parquet',
    isCompressed: true,
    ready: false,
  },
  /** Where the changes are, for a map. */
  places: {
    format: 'changes-places',
    extension: 'places.json',
    mediaType: 'application/json',
    isCompressed: false,
    ready: false,
  },
} as const

export type ChangesFormat = keyof typeof CHANGES_FORMATS
