import { detectAll } from 'jschardet'
import { detectCapitals } from './detect-capitals.ts'
import { type Encoding, findEncoding } from './encoding.ts'
import { hasOnlySymbols } from './western-symbols.ts'

/** Enough for the detector; more text hardly changes its result and costs time. */
const SAMPLE_BYTES = 1 << 14

/**
 * Detects the encoding of text that is not UTF-8: windows-1252 if only symbols are not ASCII, otherwise the
 * detector's first candidate in which all of the sample is valid text. Null if there is none.
 */
export function detectEncoding(bytes: Uint8Array): Encoding | null {
  const sample = nonAsciiValues(bytes)
  if (sample.length === 0) return null
  const western = findEncoding('windows-1252')!
  const westernText = western.decode(sample)
  if (westernText !== null && hasOnlySymbols(westernText)) return western
  for (const encoding of candidates(sample)) {
    const text = encoding.decode(sample)
    if (text === null || !isPlausible(text)) continue
    // Few letters often have the same bytes in several encodings, of which the Western one is the most common.
    return westernText === text ? western : encoding
  }
  return null
}

/** The encodings that the sample may have, the most likely one first. */
function candidates(sample: Buffer): Encoding[] {
  const detected = detectAll(sample).flatMap(({ encoding: label, confidence }) => {
    const encoding = label === null ? null : findEncoding(label)
    return encoding ? [{ encoding, confidence }] : []
  })
  return [...detectCapitals(sample), ...detected]
    .sort((one, other) => other.confidence - one.confidence)
    .map(({ encoding }) => encoding)
}

/**
 * Whether a text looks like one that people write. Control characters of the C1 range do not occur in it, and
 * words hardly ever mix Latin letters with those of another script (`Na誽o` is `Nação` read as Big5), or have
 * capitals or symbols inside (`MÚxico` and `Pe±a` are `México` and `Peña` read as cp850).
 */
function isPlausible(text: string): boolean {
  if (/[\u0080-\u0084\u0086-\u009f\ufffd]/.test(text)) return false
  const others = text.match(OTHER_SCRIPT)?.length ?? 0
  const mixed = text.match(MIXED_SCRIPTS)?.length ?? 0
  const letters = text.match(NOT_ASCII)?.length ?? 0
  const misplaced = text.match(MISPLACED)?.length ?? 0
  return mixed * 4 <= others && misplaced * 4 <= letters
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII begins with one
const NOT_ASCII = /[^\x00-\x7f]/g
/** A capital after a small letter, or between a capital and a small letter; a letter before a digit; a symbol between two letters. */
const MISPLACED = new RegExp(
  [
    '(?<=\\p{Ll})[^\\P{Lu}A-Z]|(?<=[^\\P{Ll}a-z])\\p{Lu}',
    '(?<=\\p{Lu})[^\\P{Lu}A-Z](?=\\p{Ll})',
    '[^\\P{Script=Latin}A-Za-z](?=\\d)',
    '(?<=\\p{L})(?:[^\\P{S}\\x00-\\x7f]|[¡§«¶»¼½¾¿])(?=\\p{L})',
  ].join('|'),
  'gu',
)

const OTHER_SCRIPT = /[^\P{L}\p{Script=Latin}]/gu
const MIXED_SCRIPTS = /[A-Za-z](?=[^\P{L}\p{Script=Latin}])|(?<=[^\P{L}\p{Script=Latin}])[A-Za-z]/gu

/**
 * The values that contain non-ASCII bytes, one per line: ASCII text around them would only dilute the
 * statistics. The separators are below 0x40, so they are never the second byte of a character.
 */
function nonAsciiValues(bytes: Uint8Array): Buffer {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  const values: string[] = []
  let length = 0
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters separate values
  for (const [value] of text.matchAll(/[^\x00-\x1f",;:<>=]*[\x80-\xff][^\x00-\x1f",;:<>=]*/g)) {
    values.push(value.trim())
    length += value.length + 1
    if (length > SAMPLE_BYTES) break
  }
  return Buffer.from(values.join('\n'), 'latin1')
}
