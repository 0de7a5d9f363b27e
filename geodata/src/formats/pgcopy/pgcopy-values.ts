import type { Value } from '../../feature.ts'
import { parseJson } from '../reading/parse-json.ts'
import type { PgcopyKind } from './pgcopy-header.ts'

/** PostgreSQL counts from 2000-01-01. */
const EPOCH_DAYS = 10_957
const DAY_MICROSECONDS = 86_400_000_000
const MAX_INT32 = 2 ** 31 - 1
const MAX_UINT32 = 2 ** 32 - 1
/** The first and the last day of the years 1 to 9999, counted from 1970. */
const FIRST_DAY = -719_162
const LAST_DAY = 2_932_896

/** The sizes of values that have a fixed one, in bytes. */
export const WIDTHS: Partial<Record<PgcopyKind, number>> = {
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

export const DECODERS: Record<Exclude<PgcopyKind, 'geometry'>, Decoder> = {
  boolean: (bytes, start) => bytes[start] === 1,
  int2: (bytes, start) => bytes.readInt16BE(start),
  int4: (bytes, start) => bytes.readInt32BE(start),
  int8: (bytes, start) => {
    const high = bytes.readInt32BE(start)
    const value = high * 0x1_0000_0000 + bytes.readUInt32BE(start + 4)
    return Number.isSafeInteger(value) ? value : bytes.readBigInt64BE(start)
  },
  float8: (bytes, start) => bytes.readDoubleBE(start),
  decimal: text,
  date: (bytes, start) => dateText(bytes.readInt32BE(start)),
  timestamp: (bytes, start) => timestampText(bytes.readInt32BE(start), bytes.readUInt32BE(start + 4)),
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

/** `infinity` and years that ISO 8601 does not have are texts as PostgreSQL writes them. */
export function dateText(days: number): string {
  if (days === MAX_INT32) return 'infinity'
  if (days === -MAX_INT32 - 1) return '-infinity'
  return dayText(days + EPOCH_DAYS)
}

/** Days repeat, and making their texts takes longer than looking them up. */
const dayTexts = new Map<number, string>()
const MAX_DAY_TEXTS = 100_000

function dayText(day: number): string {
  const known = dayTexts.get(day)
  if (known !== undefined) return known
  const made = makeDayText(day)
  if (dayTexts.size < MAX_DAY_TEXTS) dayTexts.set(day, made)
  return made
}

function makeDayText(day: number): string {
  const date = new Date(day * 86_400_000)
  if (day >= FIRST_DAY && day <= LAST_DAY) return date.toISOString().slice(0, 10)
  if (Number.isNaN(date.getTime())) return `day ${day}`
  const year = date.getUTCFullYear()
  const monthAndDay = date.toISOString().slice(-20, -14)
  return year > 0 ? `${year}${monthAndDay}` : `${String(1 - year).padStart(4, '0')}${monthAndDay} BC`
}

/** All minutes of a day, such as `T12:30:`. */
const MINUTES = Array.from(
  { length: 1440 },
  (_, i) => `T${twoDigits(Math.floor(i / 60))}:${twoDigits(i % 60)}:`,
)
const SECONDS = Array.from({ length: 60 }, (_, i) => twoDigits(i))

function twoDigits(value: number): string {
  return value < 10 ? `0${value}` : String(value)
}

/** A time in pieces, as its text has them one after the other. */
export interface TimePieces {
  day: string
  /** Such as `T12:30:`. */
  minute: string
  second: string
  microseconds: number
}

/**
 * Null for infinite times. The microseconds since 2000 are in two halves, because arithmetic with bigints takes several
 * times as long.
 */
export function timePieces(high: number, low: number): TimePieces | null {
  if (high === MAX_INT32 && low === MAX_UINT32) return null
  if (high === -MAX_INT32 - 1 && low === 0) return null
  const { day, microseconds } = dayAndTime(high, low)
  const fraction = microseconds % 1_000_000
  const second = (microseconds - fraction) / 1_000_000
  return {
    day: dayText(day),
    minute: MINUTES[Math.floor(second / 60)]!,
    second: SECONDS[second % 60]!,
    microseconds: fraction,
  }
}

export function timestampText(high: number, low: number): string {
  const pieces = timePieces(high, low)
  if (pieces === null) return high > 0 ? 'infinity' : '-infinity'
  const { day, minute, second, microseconds } = pieces
  const digits = String(microseconds + 1_000_000)
    .slice(1)
    .replace(/0+$/, '')
  return `${day}${minute}${second}${microseconds === 0 ? '' : `.${digits}`}Z`
}

/** The day since 1970, and the microseconds since it began. */
function dayAndTime(high: number, low: number): { day: number; microseconds: number } {
  const since2000 = high * 0x1_0000_0000 + low
  if (Number.isSafeInteger(since2000)) {
    const day = Math.floor(since2000 / DAY_MICROSECONDS)
    return { day: day + EPOCH_DAYS, microseconds: since2000 - day * DAY_MICROSECONDS }
  }
  const exact = (BigInt(high) << 32n) + BigInt(low)
  const length = BigInt(DAY_MICROSECONDS)
  const microseconds = ((exact % length) + length) % length
  return { day: Number((exact - microseconds) / length) + EPOCH_DAYS, microseconds: Number(microseconds) }
}
