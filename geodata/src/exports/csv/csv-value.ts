import { copyBytes } from '../../bytes/copy-bytes.ts'
import { stringValue } from '../../pack/property-slices.ts'

/** RFC 4180, section 2. The last line has it too. */
export const CSV_LINE_END = '\r\n'

const COMMA = 0x2c
const QUOTE = 0x22
/** The first letter of `null`. */
const NULL = 0x6e

/**
 * Puts an apostrophe before a text that spreadsheets would execute as a formula. Numbers are not changed: a
 * negative one is not a formula.
 */
export function withoutFormula(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
}

function beginsFormula(byte: number | undefined): boolean {
  return byte === 0x3d || byte === 0x2b || byte === 0x2d || byte === 0x40
}

/** A CSV cell, quoted if necessary. The quotes distinguish an empty text from a missing value. */
export function csvCell(text: string, isText = true): string {
  return (isText && text === '') || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Copies a value from its JSON text to a cell, and returns the next free offset in `out`. */
export function putCsvValue(
  bytes: Buffer,
  start: number,
  end: number,
  escaped: number,
  json: boolean,
  out: Buffer,
  at: number,
  escapeFormulas = false,
): number {
  const first = bytes[start]
  if (first === NULL) return at
  if (json) return putNested(bytes, start, end, out, at)
  if (first !== QUOTE) return copyBytes(bytes, start, end, out, at)
  if (escaped || (escapeFormulas && beginsFormula(bytes[start + 1]))) {
    const text = stringValue(bytes, start, end)
    return at + out.write(csvCell(escapeFormulas ? withoutFormula(text) : text), at)
  }
  // Without escapes there is no quote and no line break, so only a comma or an empty text requires quotes.
  let comma = end - start === 2
  for (let p = start + 1; p < end - 1; p++) {
    if (bytes[p] === COMMA) {
      comma = true
      break
    }
  }
  return comma ? copyBytes(bytes, start, end, out, at) : copyBytes(bytes, start + 1, end - 1, out, at)
}

function putNested(bytes: Buffer, start: number, end: number, out: Buffer, at: number): number {
  out[at++] = QUOTE
  for (let p = start; p < end; p++) {
    const byte = bytes[p]!
    if (byte === QUOTE) out[at++] = QUOTE
    out[at++] = byte
  }
  out[at++] = QUOTE
  return at
}
