import { sampleRecords } from './csv-records.ts'

export interface CsvDialect {
  delimiter: string
  hasHeader: boolean
  names: string[]
}

const DELIMITERS = [',', ';', '\t', '|']
const SAMPLE_RECORDS = 50

/** What is already known: the publisher's word about the header, the delimiter from a line `sep=;`. */
export interface DialectHints {
  header?: boolean
  delimiter?: string | null
}

/** Detects the delimiter and the header from the first records. */
export function detectDialect(sample: Uint8Array, isWhole: boolean, hints: DialectHints = {}): CsvDialect {
  const delimiter = hints.delimiter ?? detectDelimiter(sample, isWhole)
  const { records } = sampleRecords(sample, delimiter, isWhole, SAMPLE_RECORDS)
  const first = records[0] ?? []
  const hasHeader = hints.header ?? looksLikeHeader(first, records.slice(1))
  const names = first.map((name, i) => (hasHeader ? name.trim() : '') || `column_${i + 1}`)
  return { delimiter, hasHeader, names }
}

/** Excel writes the delimiter into a first line of its own: `sep=;`. */
export function readSepLine(head: Buffer): { delimiter: string; length: number } | null {
  const match = /^sep=([,;|\t])\r?\n/i.exec(head.toString('latin1', 0, 8))
  return match && { delimiter: match[1]!, length: match[0].length }
}

/** The delimiter for which most records have the same number of values, and more than one. */
function detectDelimiter(sample: Uint8Array, isWhole: boolean): string {
  let best = ','
  let bestScore = 0
  for (const delimiter of DELIMITERS) {
    const { records } = sampleRecords(sample, delimiter, isWhole, SAMPLE_RECORDS)
    const width = records[0]?.length ?? 0
    if (width < 2) continue
    const regular = records.filter((record) => record.length === width).length / records.length
    // Regularity decides; the number of values breaks ties, such as when each line has a decimal comma.
    const score = regular + Math.min(width, 1000) / 10000
    if (score > bestScore) {
      best = delimiter
      bestScore = score
    }
  }
  return best
}

const YEAR = /^(1[5-9]|20|21)\d\d$/
const NUMERIC = /^\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?\s*$/

/**
 * The first record is a header unless it has numbers above numbers. One text above numbers is enough for a
 * header, and years next to texts may be column names.
 */
export function looksLikeHeader(first: string[], others: string[][]): boolean {
  let numbersAboveNumbers = false
  const hasText = first.some((name) => name.trim() !== '' && !NUMERIC.test(name))
  for (const [i, name] of first.entries()) {
    const below = others.map((record) => record[i]?.trim() ?? '').filter((value) => value !== '')
    const numbersBelow = below.length > 0 && below.every((value) => NUMERIC.test(value))
    if (hasText && YEAR.test(name)) continue
    if (NUMERIC.test(name)) numbersAboveNumbers ||= numbersBelow || others.length === 0
    else if (numbersBelow && name.trim() !== '') return true
  }
  return !numbersAboveNumbers
}
