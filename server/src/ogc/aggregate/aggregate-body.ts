import { CSV_LINE_END, csvCell, withoutFormula } from '@wayleave/geodata/features'
import type { Geometry } from '@wayleave/geodata/geometry'
import type { AggregateResult, ResultColumn, ResultValue, TimedWork } from '@wayleave/query'
import type { Link } from '../write/links.ts'

/** A column of the response. */
export interface ShownColumn {
  name: string
  type: ResultColumn['type']
  unit?: string
}

export interface ShownResult extends Omit<AggregateResult, 'columns'> {
  columns: ShownColumn[]
  /** Whether they were asked for. */
  hasOthers: boolean
  links: Link[]
}

export async function jsonBody(result: ShownResult, work: TimedWork): Promise<string> {
  const { columns, rows, links } = result
  const lines: string[] = []
  await eachInTime(rows, work, (row) => lines.push(`[${row.map(jsonValue).join(',')}]`))
  const head = `{"columns":${JSON.stringify(columns)},"rows":[${lines.join(',\n')}]`
  return `${head},${countsOf(result)},"links":${JSON.stringify(links)}}`
}

export async function geojsonBody(result: ShownResult, work: TimedWork): Promise<string> {
  const { columns, rows, geometries, links } = result
  const names = columns.map(({ name }) => JSON.stringify(name))
  const lines: string[] = []
  await eachInTime(rows, work, (row, i) => {
    const properties = row.map((value, column) => `${names[column]}:${jsonValue(value)}`)
    const geometry = JSON.stringify(geometries![i]! satisfies Geometry | null)
    lines.push(`{"type":"Feature","geometry":${geometry},"properties":{${properties.join(',')}}}`)
  })
  const head = `{"type":"FeatureCollection","features":[${lines.join(',\n')}],"columns":${JSON.stringify(columns)}`
  return `${head},${countsOf(result)},"links":${JSON.stringify(links)}}`
}

/** Without its braces. */
function countsOf({ numberGroups, others, hasOthers }: ShownResult): string {
  const row = others === null ? 'null' : `[${others.map(jsonValue).join(',')}]`
  return `"numberGroups":${numberGroups}${hasOthers ? `,"others":${row}` : ''}`
}

export async function csvBody(
  { columns, rows }: ShownResult,
  escapeFormulas: boolean,
  work: TimedWork,
): Promise<string> {
  const text = (value: string) => csvCell(escapeFormulas ? withoutFormula(value) : value)
  const cell = (value: ResultValue) =>
    value === null ? '' : typeof value === 'string' ? text(value) : String(value)
  const lines = [columns.map(({ name }) => text(name)).join(',')]
  await eachInTime(rows, work, (row) => lines.push(row.map(cell).join(',')))
  return lines.join(CSV_LINE_END) + CSV_LINE_END
}

/** Integers of any size are JSON numbers. */
function jsonValue(value: ResultValue): string {
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value)
}

async function eachInTime(
  rows: readonly ResultValue[][],
  work: TimedWork,
  write: (row: ResultValue[], i: number) => void,
): Promise<void> {
  await work.each(rows.length, (i) => write(rows[i]!, i))
}
