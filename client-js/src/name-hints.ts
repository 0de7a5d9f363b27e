import type { Dataset } from './contract.ts'
import { APIStatusError, errorClassOf } from './errors.ts'
import { nearestName } from './nearest-name.ts'
import { Receipt } from './response-info.ts'
import { type CallOptions, getJson, type Transport } from './transport.ts'

const MAX_LISTED = 20
const MAX_WAIT_MS = 5000

/** What a call names, as its caller spelt it. */
interface Names {
  table: string
  format?: string
  /** A text that contains the names of columns. */
  columnText?: string | undefined
}

/** Runs a call and, if it names something that does not exist, adds the name that the caller may have meant. */
export async function withNameHints<T>(
  transport: Transport,
  names: Names,
  options: CallOptions,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof APIStatusError)) throw error
    const hint = await hintFor(transport, names, error, options)
    if (hint === undefined) throw error
    // A new error, since the stack of the old one already contains its message.
    const ErrorClass = errorClassOf(error.status)
    throw new ErrorClass(error.status, { ...error, hint }, error.retryAfter)
  }
}

async function hintFor(
  transport: Transport,
  { table, format, columnText }: Names,
  error: APIStatusError,
  { signal }: CallOptions,
): Promise<string | undefined> {
  // Without a code it is the 404 of another server, which has no datasets.
  const isUnknownName = error.status === 404 && error.code === 'not-found'
  const isWrongQuery = error.status === 400 && columnText !== undefined
  if (!isUnknownName && !isWrongQuery) return undefined
  try {
    const options = { signal, maxRetries: 0, timeout: MAX_WAIT_MS }
    const { data } = await getJson<{ data: Dataset[] }>(transport, '/v1/datasets', options, new Receipt())
    const dataset = data.find((candidate) => candidate.table === table)
    if (!dataset) return isUnknownName ? nameHint(table, 'datasets', data.map(tableOf)) : undefined
    if (isWrongQuery) return columnHint(error, columnText, dataset)
    const formats = dataset.formats.map((candidate) => candidate.format)
    // If the format exists too, something else is missing, such as a version or a sample.
    return format === undefined || formats.includes(format) ? undefined : nameHint(format, 'formats', formats)
  } catch {
    // The hint is an extra: the caller gets the service's own error without it.
    return undefined
  }
}

const tableOf = (dataset: Dataset) => dataset.table

/** For a word in the service's complaint that the caller sent and that is not a column. */
function columnHint(error: APIStatusError, columnText: string, dataset: Dataset): string | undefined {
  const columns = dataset.columns.map(({ name }) => name)
  const complaint = [error.detail, ...error.errors.map(({ message }) => message)].join(' ')
  const wordsOf = (text: string) => text.match(/[\p{L}\p{N}_]+/gu) ?? []
  const sentWords = new Set(wordsOf(columnText))
  const suspects = wordsOf(complaint).filter((word) => sentWords.has(word) && !columns.includes(word))
  // Words such as `and` or `property` may occur in both texts too, and resemble no column.
  const suspect = suspects.find((word) => nearestName(word, columns) !== undefined)
  return suspect === undefined ? undefined : nameHint(suspect, 'columns', columns)
}

function nameHint(name: string, kind: string, names: string[]): string {
  const similar = nearestName(name, names)
  if (similar !== undefined) return `Did you mean "${similar}"?`
  if (names.length === 0) return `There are no ${kind}.`
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : ''
  return `The ${kind} are ${names.slice(0, MAX_LISTED).join(', ')}${more}.`
}
