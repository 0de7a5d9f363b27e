import type { Column } from './contract.ts'
import { CALL_OPTIONS, type CallOptions } from './transport.ts'

/** How a file is read. What is left out is found by itself. */
export interface ReadingOptions {
  /** The name of the file; that of a `File` without it. */
  filename?: string | undefined
  format?: string | undefined
  layer?: string | undefined
  /** Such as `EPSG:25832`, if the file does not state it. */
  crs?: string | undefined
  allowInaccurateCrs?: boolean | undefined
  encoding?: string | undefined
  longitude?: string | undefined
  latitude?: string | undefined
  /** The column of WKT, WKB, GeoJSON or points as text. */
  geometryColumn?: string | undefined
  /** False: a table without geometry, whatever the file holds. */
  geometry?: boolean | undefined
  header?: boolean | undefined
  skipLines?: number | undefined
  headerLines?: number | undefined
  /** Such as `{ zip: 'text' }`. */
  types?: Record<string, Column['type']> | undefined
  idColumn?: string | undefined
  timeColumn?: string | undefined
  maxProblems?: number | undefined
  schema?: object | undefined
  /** The file has changes to the current version: features to add, or also new states of others. */
  mode?: 'append' | 'update' | undefined
}

/** What is published: how the file is read, what people read about the dataset, and when they see it. */
export interface PublishOptions extends ReadingOptions, UploadOptions {
  title?: string | undefined
  description?: string | undefined
  license?: string | undefined
  attribution?: string | undefined
  contact?: string | undefined
  citation?: string | undefined
  updateFrequency?: string | undefined
  keywords?: readonly string[] | undefined
  credits?: number | undefined
  extractPrice?: 'share' | 'free' | 'whole' | undefined
  visibility?: 'public' | 'open' | 'private' | 'draft' | undefined
  /** What is new in this version. */
  note?: string | undefined
  /** Publish the valid rows and report the others. */
  skipInvalid?: boolean | undefined
  /** Do everything except making the version visible. */
  dryRun?: boolean | undefined
  /** Keep the version back until `release`. */
  draft?: boolean | undefined
  ignoreSchema?: boolean | undefined
  /** With the mode `update`: remove the features that the file does not have. */
  deleteMissing?: boolean | undefined
  sample?: boolean | undefined
  tiles?: boolean | undefined
  buildExports?: boolean | undefined
}

/** What is inspected: how the file is read, and for which dataset. */
export interface InspectOptions extends ReadingOptions, UploadOptions {
  /** The dataset that the file is for; it is then read by its schema. */
  table?: string | undefined
}

interface UploadOptions extends CallOptions {
  /** Called while the file is read, with the rows so far. */
  onProgress?: ((progress: PublishProgress) => void) | undefined
}

export interface PublishProgress {
  phase: 'reading' | 'sorting' | 'indexing'
  rows: number
  bytesRead: number
  totalBytes: number | null
}

const READING =
  'filename format layer crs allowInaccurateCrs encoding longitude latitude geometryColumn geometry header skipLines headerLines types idColumn timeColumn maxProblems schema mode'
const PUBLISHING =
  'title description license attribution contact citation updateFrequency keywords credits extractPrice visibility note skipInvalid dryRun draft ignoreSchema deleteMissing sample tiles buildExports'

/** The parameters of the service, which are options of the same names. */
export const INSPECT_PARAMETERS: string[] = `${READING} table`.split(' ')
export const PUBLISH_PARAMETERS: string[] = `${READING} ${PUBLISHING}`.split(' ')
export const UPLOAD_OPTIONS: string[] = ['onProgress', ...CALL_OPTIONS]

/** The options that are parameters, as the query of an upload. */
export function uploadQuery(options: object, parameters: readonly string[], filename?: string): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ filename, ...options }))
    if (value !== undefined && parameters.includes(name)) query.set(name, parameterText(name, value))
  const text = String(query)
  return text && `?${text}`
}

function parameterText(name: string, value: unknown): string {
  if (name === 'schema') return JSON.stringify(value)
  if (name !== 'types') return String(value)
  return Object.entries(value as object)
    .map((pair) => pair.join('='))
    .join(',')
}
