import { Readable } from 'node:stream'
import { CSV_LINE_END, csvCell, withoutFormula } from '@wayleave/geodata/features'
import type { FastifyReply } from 'fastify'

/** Rows that are read for a CSV file at a time. */
const STEP = 1000

type CsvValue = string | number | null

export interface CsvTable<T> {
  /** The name of the file that a browser saves. */
  name: string
  heads: readonly string[]
  cells: (row: T) => readonly CsvValue[]
  /** Reads the rows after the given one, all of which have smaller ids. */
  read: (page: { before: number | undefined; limit: number }) => Promise<T[]>
}

/** For the schema of a route that responds with `sendCsv`. */
export const csvResponse = {
  responses: { 200: { description: 'All rows.', content: { 'text/csv': { schema: { type: 'string' } } } } },
}

/** Sends all rows of an append-only list, a step at a time: the list may be longer than memory. */
export async function sendCsv<T extends { id: number }>(
  reply: FastifyReply,
  { name, heads, cells, read }: CsvTable<T>,
): Promise<FastifyReply> {
  // Read the first rows before the response begins, so that a failure still gets a status of its own.
  const first = await read({ before: undefined, limit: STEP })
  const steps = async function* () {
    for (let rows = first; rows.length > 0; ) {
      yield rows
      if (rows.length < STEP) return
      rows = await read({ before: rows.at(-1)!.id, limit: STEP })
    }
  }
  return sendSteps(reply, { name, heads, cells }, steps())
}

/** Sends rows that are in memory. */
export function sendCsvRows<T>(
  reply: FastifyReply,
  table: Omit<CsvTable<T>, 'read'>,
  rows: readonly T[],
): FastifyReply {
  const steps = function* () {
    for (let at = 0; at < rows.length; at += STEP) yield rows.slice(at, at + STEP)
  }
  return sendSteps(reply, table, steps())
}

function sendSteps<T>(
  reply: FastifyReply,
  { name, heads, cells }: Omit<CsvTable<T>, 'read'>,
  steps: AsyncIterable<readonly T[]> | Iterable<readonly T[]>,
): FastifyReply {
  const lines = async function* () {
    yield line(heads)
    for await (const rows of steps) yield rows.map((row) => line(cells(row))).join('')
  }
  return reply
    .header('content-type', 'text/csv; charset=utf-8; header=present')
    .header('content-disposition', `attachment; filename="${name}"`)
    .header('cache-control', 'no-store')
    .send(Readable.from(lines()))
}

/** Names are chosen by users, and spreadsheets would execute a name that begins like a formula. */
function line(values: readonly CsvValue[]): string {
  const texts = values.map((value) =>
    typeof value === 'string' ? csvCell(withoutFormula(value), true) : value === null ? '' : String(value),
  )
  return texts.join(',') + CSV_LINE_END
}
