import { type HeaderChoice, headerNotes, joinedNames, linesAboveTable } from '../reading/header-notes.ts'
import { sampleRecords } from './csv-records.ts'

export interface CsvDialect {
  delimiter: string
  /** The number of lines with column names: usually one, none without a header. */
  headers: number
  names: string[]
  /** What the first lines look like, if the column names may be wrong. */
  notes: string[]
}

const DELIMITERS = [',', ';', '\t', '|']
const SAMPLE_RECORDS = 50

/** What is already known: the publisher's word about the header, the delimiter from a line `sep=;`. */
export interface DialectHints extends HeaderChoice {
  delimiter?: string | null
  /** Whether the name of the file says that tabs separate the values. */
  isTabbed?: boolean
}

/** Detects the delimiter and the header from the first records. */
export function detectDialect(sample: Uint8Array, isWhole: boolean, hints: DialectHints = {}): CsvDialect {
  const delimiter = hints.delimiter ?? detectDelimiter(sample, isWhole, hints.isTabbed === true)
  const { records } = sampleRecords(sample, delimiter, isWhole, SAMPLE_RECORDS)
  const first = records[0] ?? []
  const isHeader =
    hints.header ?? (hints.headerLines !== undefined || looksLikeHeader(first, records.slice(1)))
  const headers = isHeader ? (hints.headerLines ?? 1) : 0
  const names = headers > 1 ? joinedNames(records.slice(0, headers)) : first
  return {
    delimiter,
    headers,
    names: names.map((name, i) => (isHeader ? name.trim() : '') || `column_${i + 1}`),
    notes: isHeader ? headerNotes(records, hints) : [],
  }
}

/** A sentence if the file has lines above a table of more values, which would all be refused. */
export function titleProblem(
  sample: Uint8Array,
  isWhole: boolean,
  { delimiter: detected, names }: Pick<CsvDialect, 'delimiter' | 'names'>,
): string | null {
  const { records: rows } = sampleRecords(sample, detected, isWhole, SAMPLE_RECORDS)
  // Lines with one value have as many as the text of a title has.
  if (names.length > 1 && rows.filter(({ length }) => length === names.length).length * 2 > rows.length)
    return null
  for (const delimiter of DELIMITERS) {
    const { records } = sampleRecords(sample, delimiter, isWhole, SAMPLE_RECORDS)
    const table = linesAboveTable(records)
    if (table.lines === 0) continue
    const title = JSON.stringify(records[0]!.join(delimiter).trim().slice(0, 60))
    return table.lines === 1
      ? `the first line, ${title}, has fewer values than the lines below it, which have ${table.width}. If it is a title, leave it out with --skip-lines 1.`
      : `the first ${table.lines} lines, from ${title} on, have fewer values than the lines below them, which have ${table.width}. If they are a title, leave them out with --skip-lines ${table.lines}.`
  }
  return null
}

/** Excel writes the delimiter into a first line of its own: `sep=;`. */
export function readSepLine(head: Buffer): { delimiter: string; length: number } | null {
  const match = /^sep=([,;|\t])\r?\n/i.exec(head.toString('latin1', 0, 8))
  return match && { delimiter: match[1]!, length: match[0].length }
}

/** The delimiter for which most records have the same number of values, and more than one. */
function detectDelimiter(sample: Uint8Array, isWhole: boolean, isTabbed: boolean): string {
  let best = ','
  let bestScore = 0
  for (const delimiter of DELIMITERS) {
    const { records } = sampleRecords(sample, delimiter, isWhole, SAMPLE_RECORDS)
    const width = records[0]?.length ?? 0
    if (width < 2) continue
    const regular = records.filter((record) => record.length === width).length / records.length
    // The first column of Eurostat's files has commas in it, more of them than tabs in a line of few years.
    if (isTabbed && delimiter === '\t' && regular === 1) return delimiter
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
    if (hasText && YEAR.test(name.trim())) continue
    if (NUMERIC.test(name)) numbersAboveNumbers ||= numbersBelow || others.length === 0
    else if (numbersBelow && name.trim() !== '') return true
  }
  return !numbersAboveNumbers
}
