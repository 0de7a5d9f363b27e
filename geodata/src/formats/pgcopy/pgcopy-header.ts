import type { SourceColumn } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import type { ByteWindow } from '../reading/byte-window.ts'

/**
 * A file of rows that were copied from PostgreSQL: these eight bytes, the length of the header (uint32, little-endian),
 * the header as JSON, and then what `COPY … TO STDOUT (FORMAT binary)` sends, byte for byte.
 */
const PGCOPY_MAGIC = Buffer.from('WLPGCOPY')

const MAX_HEADER_BYTES = 16 << 20
const KINDS = [
  'boolean',
  'int2',
  'int4',
  'int8',
  'float8',
  'decimal',
  'date',
  'timestamp',
  'json',
  'text',
  'geometry',
] as const

/** How a value is encoded. `decimal` and `json` are sent as text, `geometry` as EWKB. */
export type PgcopyKind = (typeof KINDS)[number]

export interface PgcopyColumn {
  name: string
  kind: PgcopyKind
}

export interface PgcopyHeader {
  /** At most one is the geometry. */
  columns: PgcopyColumn[]
  /** The CRS of the geometry; null if the database does not state it. */
  crs: string | null
  /** The SRID that every geometry must have; null without a geometry. */
  srid: number | null
}

const SOURCE_TYPES: Record<Exclude<PgcopyKind, 'geometry'>, SourceColumn['type']> = {
  boolean: 'boolean',
  int2: 'integer',
  int4: 'integer',
  int8: 'integer',
  float8: 'number',
  // Whether all values are integers, and whether doubles hold them, shows in the values only.
  decimal: 'infer-text',
  date: 'date',
  timestamp: 'timestamp',
  json: 'json',
  text: 'text',
}

export function pgcopyHeader(header: PgcopyHeader): Buffer {
  const text = Buffer.from(JSON.stringify(header))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(text.length)
  return Buffer.concat([PGCOPY_MAGIC, length, text])
}

export function sourceColumns({ columns }: PgcopyHeader): SourceColumn[] {
  return columns.flatMap(({ name, kind }) =>
    kind === 'geometry' ? [] : [{ name, type: SOURCE_TYPES[kind] }],
  )
}

export async function readPgcopyHeader(window: ByteWindow, file: string): Promise<PgcopyHeader> {
  const damaged = () => new SourceError(`${file} is damaged: its header cannot be read.`)
  const headBytes = PGCOPY_MAGIC.length + 4
  if (!(await window.fill(headBytes))) throw damaged()
  const length = window.bytes.readUInt32LE(window.at + PGCOPY_MAGIC.length)
  if (length > MAX_HEADER_BYTES || !(await window.fill(headBytes + length))) throw damaged()
  const start = window.at + headBytes
  window.at = start + length
  try {
    const header: unknown = JSON.parse(window.bytes.toString('utf8', start, start + length))
    if (isHeader(header)) return header
  } catch {}
  throw damaged()
}

function isHeader(value: unknown): value is PgcopyHeader {
  const { columns, crs, srid } = value as Partial<PgcopyHeader>
  if (!Array.isArray(columns) || !(crs === null || typeof crs === 'string')) return false
  if (!(srid === null || Number.isInteger(srid))) return false
  if (columns.filter(({ kind }) => kind === 'geometry').length > 1) return false
  return columns.every(({ name, kind }) => typeof name === 'string' && KINDS.includes(kind))
}
