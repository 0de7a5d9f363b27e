export interface Column {
  name: string
  type: 'boolean' | 'integer' | 'number' | 'text' | 'date' | 'timestamp' | 'json'
  nullable: boolean
}

export interface Format {
  format: string
  mediaType: string
  url: string
}

/** What anyone may know of a dataset. */
export interface Dataset {
  table: string
  title: string
  description: string
  license: string
  attribution: string
  keywords: string[]
  /** `Geometry` where shapes are mixed; null for a table without geometry. */
  geometryType: string | null
  /** The types that occur. */
  geometryTypes: string[]
  /** West, south, east, north in WGS84. */
  bbox: [number, number, number, number] | null
  /** The earliest and the latest value of the column that tells the time; null where there is none. */
  timeExtent: [string, string] | null
  rows: number
  columns: Column[]
  version: number
  updatedAt: string
  /** What one download costs. */
  credits: number
  formats: Format[]
  /** Where the free sample is; null where there is none. */
  sample: string | null
}

/** One version of a dataset. */
export interface Archive {
  version: number
  current: boolean
  createdAt: string
  rows: number
  geometryType: string | null
  geometryTypes: string[]
  bbox: [number, number, number, number] | null
  timeExtent: [string, string] | null
  columns: Column[]
  formats: Format[]
}

/** A row of the sample: the columns, then `longitude` and `latitude`, and `geometry` for other shapes than points. */
export type Row = Record<string, unknown>
