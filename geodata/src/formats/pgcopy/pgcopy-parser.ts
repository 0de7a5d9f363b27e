import type { Feature, Geometry, UnreadableRow, Value } from '../../feature.ts'
import { readWkb, wkbSrid } from '../../geometry/wkb.ts'
import { parseJson } from '../reading/parse-json.ts'
import type { PgcopyHeader, PgcopyKind } from './pgcopy-header.ts'

/** Complete rows; `bytes` owns its memory (transferable). */
export interface PgcopyBlock {
  bytes: Uint8Array<ArrayBuffer>
  rows: number
  firstRow: number
}

export interface PgcopyParsing {
  format: 'pgcopy'
  header: PgcopyHeader
}

const BATCH_ROWS = 2000
/** PostgreSQL counts from 2000-01-01. */
const EPOCH_DAYS = 10_957
const EPOCH_MICROSECONDS = 946_684_800_000_000n
const MAX_INT64 = 2n ** 63n - 1n
const MAX_INT32 = 2 ** 31 - 1
/** The first and the last day of the years 1 to 9999, counted from 1970. */
const FIRST_DAY = -719_162
const LAST_DAY = 2_932_896

/** The sizes of values that have a fixed one, in bytes. */
const WIDTHS: Partial<Record<PgcopyKind, number>> = {
  boolean: 1,
  int2: 2,
  int4: 4,
  int8: 8,
  float8: 8,
  date: 4,
  timestamp: 8,
}

type Decoder = (bytes: Buffer, start: number, end: number) => Value

const text: Decoder = (bytes, start, end) => bytes.toString('utf8', start, end)

const DECODERS: Record<Exclude<PgcopyKind, 'geometry'>, Decoder> = {
  boolean: (bytes, start) => bytes[start] === 1,
  int2: (bytes, start) => bytes.readInt16BE(start),
  int4: (bytes, start) => bytes.readInt32BE(start),
  int8: (bytes, start) => {
    const high = bytes.readInt32BE(start)
    if (high >= -0x20_0000 && high < 0x20_0000) return high * 0x1_0000_0000 + bytes.readUInt32BE(start + 4)
    return bytes.readBigInt64BE(start)
  },
  float8: (bytes, start) => bytes.readDoubleBE(start),
  decimal: text,
  date: (bytes, start) => dateText(bytes.readInt32BE(start)),
  timestamp: (bytes, start) => timestampText(bytes.readBigInt64BE(start)),
  json: (bytes, start, end) => jsonValue(bytes.toString('utf8', start, end)),
  text,
}

/** PostgreSQL only sends valid JSON; other programs may write such a file too. */
function jsonValue(json: string): Value {
  try {
    return parseJson(json)
  } catch {
    return json
  }
}

/** Rows as PostgreSQL sends them in binary: the number of fields, then the length and the bytes of each. */
export class PgcopyParser {
  readonly #kinds: PgcopyKind[]
  readonly #srid: number | null

  constructor({ columns, srid }: PgcopyHeader) {
    this.#kinds = columns.map(({ kind }) => kind)
    this.#srid = srid
  }

  *parse({ bytes, rows, firstRow }: PgcopyBlock): Generator<(Feature | UnreadableRow)[]> {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    let batch: (Feature | UnreadableRow)[] = []
    let at = 0
    for (let i = 0; i < rows; i++) {
      at = this.#parseRow(buffer, at, firstRow + i, batch)
      if (batch.length < BATCH_ROWS) continue
      yield batch
      batch = []
    }
    if (batch.length > 0) yield batch
  }

  #parseRow(bytes: Buffer, start: number, row: number, batch: (Feature | UnreadableRow)[]): number {
    const values: Value[] = []
    let geometry: Geometry | null = null
    let problem: string | null = null
    let at = start + 2
    for (const kind of this.#kinds) {
      const length = bytes.readInt32BE(at)
      at += 4
      const end = at + Math.max(0, length)
      if (kind === 'geometry') {
        if (length >= 0) {
          const shape = this.#geometry(bytes.subarray(at, end))
          if (typeof shape === 'string') problem = shape
          else geometry = shape
        }
      } else if (length < 0) values.push(null)
      else {
        const width = WIDTHS[kind] ?? length
        if (length === width) values.push(DECODERS[kind](bytes, at, end))
        else problem = `It has a value of the type ${kind} with ${length} bytes.`
      }
      at = end
    }
    batch.push(problem === null ? { id: null, values, geometry, row } : { row, problem })
    return at
  }

  /** Returns a sentence if the geometry cannot be used. */
  #geometry(bytes: Buffer): Geometry | string {
    try {
      const srid = wkbSrid(bytes) ?? 0
      if (srid !== this.#srid) return `Its geometry has the SRID ${srid}, and others have ${this.#srid}.`
      return readWkb(bytes)
    } catch (error) {
      return `Its geometry cannot be read: ${(error as Error).message}`
    }
  }
}

/** `infinity` and years that ISO 8601 does not have are texts as PostgreSQL writes them. */
function dateText(days: number): string {
  if (days === MAX_INT32) return 'infinity'
  if (days === -MAX_INT32 - 1) return '-infinity'
  return dayText(days + EPOCH_DAYS)
}

function dayText(day: number): string {
  if (day >= FIRST_DAY && day <= LAST_DAY) return new Date(day * 86_400_000).toISOString().slice(0, 10)
  const date = new Date(day * 86_400_000)
  if (Number.isNaN(date.getTime())) return `day ${day}`
  const year = date.getUTCFullYear()
  const monthAndDay = date.toISOString().slice(-20, -14)
  return year > 0 ? `${year}${monthAndDay}` : `${String(1 - year).padStart(4, '0')}${monthAndDay} BC`
}

function timestampText(microseconds: bigint): string {
  if (microseconds === MAX_INT64) return 'infinity'
  if (microseconds === -MAX_INT64 - 1n) return '-infinity'
  const sinceEpoch = microseconds + EPOCH_MICROSECONDS
  const fraction = ((sinceEpoch % 1_000_000n) + 1_000_000n) % 1_000_000n
  const seconds = Number((sinceEpoch - fraction) / 1_000_000n)
  const day = Math.floor(seconds / 86_400)
  const time = new Date((seconds - day * 86_400) * 1000).toISOString().slice(11, 19)
  const digits = fraction === 0n ? '' : `.${String(fraction).padStart(6, '0').replace(/0+$/, '')}`
  return `${dayText(day)}T${time}${digits}Z`
}
