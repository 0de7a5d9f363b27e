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

/** The public metadata of a dataset. */
export interface Dataset {
  table: string
  title: string
  description: string
  license: string
  attribution: string
  keywords: string[]
  /** `Geometry` if shapes are mixed; null for a table without geometry. */
  geometryType: string | null
  /** The types that occur. */
  geometryTypes: string[]
  /** West, south, east, north in WGS84. */
  bbox: [number, number, number, number] | null
  /** The earliest and the latest value of the time column; null if there is none. */
  timeExtent: [string, string] | null
  rows: number
  columns: Column[]
  version: number
  updatedAt: string
  /** The price of one download in credits. */
  credits: number
  formats: Format[]
  /** The URL of the free sample; null if there is none. */
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
