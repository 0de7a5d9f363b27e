/** Takes records apart by RFC 4180: values in quotes may hold delimiters, line ends and doubled quotes. */

export interface CsvRecords {
  /** A record that is not well formed is the sentence that says why. */
  records: (string[] | string)[]
  /** Where the first record begins that the text does not end. */
  rest: number
  /** Whether `rest` begins a record with an open quote. */
  openQuote: boolean
}

const QUOTE = 34
const NEWLINE = 10
const RETURN = 13

/** `isLast`: the text is the file's end, so that its last record needs no line end. */
export function readRecords(text: string, delimiter: string, isLast: boolean, limit = Infinity): CsvRecords {
  const records: (string[] | string)[] = []
  let at = 0
  let quote = text.indexOf('"')
  while (at < text.length && records.length < limit) {
    let end = text.indexOf('\n', at)
    if (end < 0) {
      if (!isLast) break
      end = text.length
    }
    if (quote >= 0 && quote < at) quote = text.indexOf('"', at)
    if (quote < 0 || quote >= end) {
      // Most lines have no quote, and the engine's own split is faster than any loop of ours.
      const line = text.slice(at, end > at && text.charCodeAt(end - 1) === RETURN ? end - 1 : end)
      if (line !== '') records.push(line.split(delimiter))
      at = end + 1
      continue
    }
    const next = readQuoted(text, at, delimiter, isLast, records)
    if (next < 0) return { records, rest: at, openQuote: true }
    at = next
  }
  return { records, rest: Math.min(at, text.length), openQuote: false }
}

/** Reads one record that has quotes; answers where the next begins, or -1 where the text ends inside it. */
function readQuoted(
  text: string,
  from: number,
  delimiter: string,
  isLast: boolean,
  records: (string[] | string)[],
): number {
  const comma = delimiter.charCodeAt(0)
  const values: string[] = []
  let problem = ''
  let at = from
  for (;;) {
    let value: string
    if (text.charCodeAt(at) === QUOTE) {
      const close = closingQuote(text, at + 1)
      if (close < 0) return -1
      value = text.slice(at + 1, close)
      if (value.includes('"')) value = value.replaceAll('""', '"')
      at = close + 1
      const stray = at
      while (at < text.length && text.charCodeAt(at) !== comma && text.charCodeAt(at) !== NEWLINE) at++
      const after = text.slice(stray, at).trim()
      if (after !== '' && problem === '')
        problem = `a quoted value is followed by ${JSON.stringify(after.slice(0, 20))}`
    } else {
      const start = at
      while (at < text.length && text.charCodeAt(at) !== comma && text.charCodeAt(at) !== NEWLINE) at++
      const end = text.charCodeAt(at - 1) === RETURN && text.charCodeAt(at) !== comma ? at - 1 : at
      value = text.slice(start, Math.max(start, end))
    }
    values.push(value)
    if (at >= text.length) {
      if (!isLast) return -1
      break
    }
    at++
    if (text.charCodeAt(at - 1) === NEWLINE) break
  }
  records.push(problem === '' ? values : problem)
  return at
}

function closingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from)
  while (at >= 0 && text.charCodeAt(at + 1) === QUOTE) at = text.indexOf('"', at + 2)
  return at
}
