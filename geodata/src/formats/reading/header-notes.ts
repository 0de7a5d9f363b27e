/** What the first lines of a table look like, if they are not one line of column names and rows. */

/** Fewer rows below say too little about the lines above. */
const MIN_ROWS = 3
/** Tables of two columns often have rows with one value. */
const MIN_COLUMNS = 3
const MAX_TITLE_LINES = 10

/** A number or a date in any notation. */
const NUMBER_OR_DATE = /^[+-]?\d[\d.,:/'\s\u00a0\u202fTZ+-]*%?$/
/** Words for a missing value, which may be above numbers in any row. */
const MISSING = /^(n\/?a|nan|null|nil|none|missing|unknown|k\.? ?a\.?|no data|inf|true|false)$/i

export interface HeaderChoice {
  header?: boolean
  headerLines?: number
}

/** Sentences for the report about a title or a second line of names, with the options that help. */
export function headerNotes(
  records: readonly string[][],
  { header, headerLines = 1 }: HeaderChoice,
): string[] {
  if (header === false) return []
  const titles = titleLines(records)
  const seconds = headerLines === 1 ? secondNames(records.slice(titles)) : []
  const options = [
    ...(titles > 0 ? [`--skip-lines ${titles}`] : []),
    ...(seconds.length > 0 ? ['--header-lines 2'] : []),
  ].join(' ')
  const title = shortened(records[0]?.find(isFilled) ?? '')
  const names = seconds.slice(0, 3).map(shortened).join(', ')
  if (titles > 0)
    return [
      `The column names look wrong: ${titles === 1 ? `the first line has only ${title}` : `the first ${titles} lines have one value each, such as ${title}`}, like a title above the table${names && `, and the names below take two lines (${names})`}. If so, publish with ${options}.`,
    ]
  if (names !== '')
    return [
      `The column names look wrong: the line below them (${names}) has texts where all other lines have numbers, like a second line of names. If so, publish with ${options}.`,
    ]
  return []
}

/** The number of lines with one value or none above a table of many. */
function titleLines(records: readonly string[][]): number {
  const counts = records.map((record) => record.filter(isFilled).length)
  const typical = [...counts].sort((a, b) => a - b)[counts.length >> 1] ?? 0
  const first = counts.findIndex((count) => count > 1)
  const isTitle = typical >= MIN_COLUMNS && first <= MAX_TITLE_LINES && counts.length - first > MIN_ROWS
  return isTitle ? Math.max(0, first) : 0
}

/** The texts of the second line, if they are above numbers only and most columns of numbers have one. */
function secondNames([, second = [], ...rows]: readonly string[][]): string[] {
  if (rows.length < MIN_ROWS) return []
  const numeric = [...second.keys()].filter((i) => {
    const values = rows.map((row) => row[i]?.trim() ?? '').filter((value) => value !== '')
    return values.length >= MIN_ROWS && values.every((value) => NUMBER_OR_DATE.test(value))
  })
  const above = numeric.map((i) => second[i]!.trim()).filter((text) => text !== '')
  const areNames = above.every((text) => /[\p{L}%°€$£]/u.test(text) && !MISSING.test(text))
  const others = second.filter((text, i) => !numeric.includes(i) && isFilled(text))
  // A single text above numbers may be a wrong value, unless nothing else is in the line.
  const areEnough = above.length >= 2 ? above.length * 2 >= numeric.length : others.length === 0
  return above.length > 0 && areNames && areEnough ? above : []
}

/**
 * The number of lines above a table that have fewer values than its lines; 0 if the lines do not agree on their
 * number of values.
 */
export function linesAboveTable(records: readonly string[][]): { lines: number; width: number } {
  const widths = records.map((record) => record.length)
  const width = mostFrequent(widths)
  const lines = widths.indexOf(width)
  const below = widths.slice(lines)
  const regular = below.filter((each) => each === width).length
  const isTable = width > 1 && regular >= MIN_ROWS && regular >= below.length * 0.8
  const areAbove = lines <= MAX_TITLE_LINES && widths.slice(0, lines).every((each) => each * 2 <= width)
  return isTable && areAbove ? { lines, width } : { lines: 0, width }
}

/** One name for each column of several lines of names. A merged cell has its text in the first of its columns. */
export function joinedNames(lines: readonly string[][]): string[] {
  const width = Math.max(0, ...lines.map((line) => line.length))
  const names: string[][] = Array.from({ length: width }, () => [])
  for (const [i, line] of lines.entries()) {
    let merged = ''
    for (let column = 0; column < width; column++) {
      const text = line[column]?.trim() ?? ''
      if (text !== '' || i === lines.length - 1) merged = text
      if (merged !== '' && names[column]!.at(-1) !== merged) names[column]!.push(merged)
    }
  }
  return names.map((parts) => parts.join(' '))
}

function mostFrequent(numbers: readonly number[]): number {
  const counts = new Map<number, number>()
  for (const each of numbers) counts.set(each, (counts.get(each) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? 0
}

function isFilled(text: string): boolean {
  return text.trim() !== ''
}

function shortened(text: string): string {
  const line = text.trim().replace(/\s+/g, ' ')
  return JSON.stringify(line.length > 40 ? `${line.slice(0, 40)}…` : line)
}
