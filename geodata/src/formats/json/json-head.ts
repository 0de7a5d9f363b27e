import { SourceError } from '../../source-error.ts'
import { ERROR_MEMBERS, refuseSingleObject } from '../reading/not-a-dataset.ts'
import { parseJson } from '../reading/parse-json.ts'

export interface JsonRowsPlace {
  /** The offset at which the rows begin. */
  at: number
  inArray: boolean
  /** The end of the file, after the array. */
  closing: string
}

const OPEN_BRACE = 0x7b
const OPEN_BRACKET = 0x5b
const QUOTE = 0x22

/** Distinguishes an array of rows, a sequence of rows, and an object that contains an array of rows. */
export function findJsonRows(head: Buffer, isWhole: boolean, file: string): JsonRowsPlace {
  const start = skipSpace(head, head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? 3 : 0)
  if (start >= head.length) throw new SourceError(`${file} is empty.`)
  if (head[start] === OPEN_BRACKET) return { at: start + 1, inArray: true, closing: ']' }
  if (head[start] !== OPEN_BRACE)
    throw new SourceError(`${file} is not JSON rows: it begins with neither an object nor an array.`)
  const sequence = { at: start, inArray: false, closing: '' }
  const end = valueEnd(head, start)
  const next = end === null ? head.length : skipSpace(head, end)
  // It is a sequence of rows if anything follows the first object, or if that has no array of rows.
  if (end !== null && next < head.length) return sequence
  const arrays = arraysOfObjects(head, start)
  if (arrays.length === 0) {
    if (end !== null && isWhole && !/\.(ndjson|jsonl)$/i.test(file))
      refuseSingle(head.subarray(start, end), file)
    return sequence
  }
  if (arrays.length > 1 && isWhole)
    throw new SourceError(
      `${file} is an object with ${arrays.length} arrays of rows, and only one can be read.`,
    )
  return { at: arrays[0]! + 1, inArray: true, closing: '}' }
}

function refuseSingle(object: Buffer, file: string): void {
  let value: unknown
  try {
    value = parseJson(object.toString('utf8'))
  } catch {
    // The reader of the rows says what is wrong with it.
    return
  }
  refuseSingleObject(value, file)
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from
  while (at < bytes.length && bytes[at]! <= 0x20) at++
  return at
}

/** The offsets of the object's members that are arrays of objects. */
function arraysOfObjects(bytes: Buffer, start: number): number[] {
  const arrays: number[] = []
  let at = skipSpace(bytes, start + 1)
  while (at < bytes.length && bytes[at] === QUOTE) {
    const nameEnd = valueEnd(bytes, at)
    if (nameEnd === null) break
    const value = skipSpace(bytes, skipSpace(bytes, nameEnd) + 1)
    const name = bytes.toString('utf8', at + 1, nameEnd - 1)
    if (bytes[value] === OPEN_BRACKET && bytes[skipSpace(bytes, value + 1)] === OPEN_BRACE)
      if (!ERROR_MEMBERS.includes(name)) arrays.push(value)
    const end = valueEnd(bytes, value)
    if (end === null) break
    at = skipSpace(bytes, skipSpace(bytes, end) + 1)
  }
  return arrays
}

/** The end of the JSON value that starts here, or null if the bytes end before it. */
function valueEnd(bytes: Buffer, start: number): number | null {
  let depth = 0
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte === QUOTE) {
      at++
      while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === 0x5c ? 2 : 1
      if (at >= bytes.length) return null
      if (depth === 0) return at + 1
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++
    else if (byte === 0x7d || byte === 0x5d) {
      if (--depth === 0) return at + 1
      if (depth < 0) return at
    } else if (depth === 0 && byte === 0x2c) return at
  }
  return null
}
