// Made from contract/ by `npm run contract`; do not edit.

/** A column of a dataset. */
export interface Column {
  name: string
  type: 'boolean' | 'integer' | 'number' | 'text' | 'date' | 'timestamp' | 'json'
  nullable: boolean
  /** Its name for people, if the publisher has given one. */
  title?: string
  /** What it holds, if the publisher has described it. */
  description?: string
  /** The unit of its values, such as `km` or `°C`. */
  unit?: string
}

/** The column of the features’ ids. */
export interface IdColumn {
  name: string
  type: 'integer' | 'text'
}

/** A format that a version can be downloaded in. */
export interface Format {
  format: string
  mediaType: string
  url: string
  /** The size of the file; null if it is not built yet or the size is not known. */
  bytes: number | null
}

/** How far the vector tiles of a dataset are. */
export interface Tiles {
  state: 'pending' | 'building' | 'ready' | 'failed'
  /** From 0 to 1 while they are built. */
  progress: number | null
  /** The deepest zoom, once they are ready. */
  maxZoom: number | null
  /** Why they could not be built. */
  reason: string | null
}

/** The organization that publishes a dataset. */
export interface Owner {
  organizationId: string
  name: string
}

/** The public metadata of a dataset. */
export interface Dataset {
  table: string
  title: string
  /** Markdown. */
  description: string
  /** An SPDX identifier, a URL or a name. */
  license: string
  /** Whom users must name. */
  attribution: string
  /** A mail address, a URL or a name; empty if there is none. */
  contact: string
  /** How to cite the dataset; empty if that is not stated. */
  citation: string
  /** How often it is updated, such as `daily` or `annual`; empty if that is not stated. */
  updateFrequency: string
  keywords: string[]
  /** `Geometry` if types are mixed; null for a table without geometry. */
  geometryType: string | null
  /** The types that occur. */
  geometryTypes: string[]
  /** West, south, east, north in WGS84. */
  bbox: [number, number, number, number] | null
  /** The earliest and the latest value of the time column; null if there is none. */
  timeExtent: [string, string] | null
  rows: number
  columns: Column[]
  /** Where the ids of features are a column, as in most files, it has this name: one of `columns`, or a further one. Null for a version from before this was recorded. */
  idColumn: IdColumn | null
  version: number
  updatedAt: string
  /** Who sees the dataset and who gets its data. */
  visibility: 'public' | 'open' | 'private' | 'draft'
  owner: Owner | null
  /** The price of one download in credits. */
  credits: number
  /** What a file of filtered rows costs: its share of the price of a download, rounded up (`share`), nothing (`free`), or that price (`whole`). Null: what the service says, `share` by default. `HEAD` tells the price in `Wayleave-Credits`. */
  extractPrice: 'share' | 'free' | 'whole' | null
  formats: Format[]
  tiles: Tiles | null
  /** The URL of the free sample; null if there is none. */
  sample: string | null
}

/** How many features differ from the version before. */
export interface VersionChanges {
  /** The version before. */
  from: number
  added: number
  removed: number
  changed: number
}

/** One version of a dataset. */
export interface Archive {
  version: number
  current: boolean
  createdAt: string
  /** What the publisher says about this version; may be empty. */
  note: string
  /** How many features differ from the version before. */
  changes: VersionChanges | null
  rows: number
  /** `Geometry` if types are mixed; null for a table without geometry. */
  geometryType: string | null
  /** The types that occur. */
  geometryTypes: string[]
  /** West, south, east, north in WGS84. */
  bbox: [number, number, number, number] | null
  /** The earliest and the latest value of the time column; null if there is none. */
  timeExtent: [string, string] | null
  columns: Column[]
  formats: Format[]
}

/** One wrong value of a request. */
export interface FieldError {
  /** A JSON pointer into the body, or the name of the query parameter or header. */
  path: string
  message: string
}

/** The body of an error (RFC 9457). */
export interface ProblemBody {
  /** The address of the problem’s page. */
  type: string
  title: string
  status: number
  /** A sentence for this case. */
  detail: string
  /** The path of the request. */
  instance?: string
  /** The problem’s stable name, such as `add-on-missing`. */
  code: string
  /** Name it when you ask the operator about the problem. */
  requestId: string
  /** For invalid input: each wrong value. */
  errors?: FieldError[]
  /** Where to ask for add-ons and credits, if the operator says so. */
  contact?: string
}

/** The download formats that this version of the client knows. */
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
