import { CSV_LINE_END, csvCell, withoutFormula } from '@wayleave/geodata/features'
import type { AggregateResult, ResultColumn, ResultValue, TimedWork } from '@wayleave/query'
import type { Link } from '../write/links.ts'
import { BodyWriter } from './body-writer.ts'

/** Smaller geometries are written with the text around them. */
const MAX_COPIED = 4096

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

export interface WrittenBody {
  body: Buffer
  /** A weak ETag. */
  tag: string
}

export async function jsonBody(result: ShownResult, work: TimedWork): Promise<WrittenBody> {
  const { columns, rows, links } = result
  const writer = new BodyWriter('json')
  writer.write(`{"columns":${JSON.stringify(columns)},"rows":[`)
  await work.each(rows.length, (i) =>
    writer.write(`${i === 0 ? '' : ',\n'}[${rows[i]!.map(jsonValue).join(',')}]`),
  )
  writer.write(`],${countsOf(result)},"links":${JSON.stringify(links)}}`)
  return writer.end()
}

export async function geojsonBody(result: ShownResult, work: TimedWork): Promise<WrittenBody> {
  const { columns, rows, geometries, links } = result
  const names = columns.map(({ name }) => JSON.stringify(name))
  const writer = new BodyWriter('geojson')
  writer.write('{"type":"FeatureCollection","features":[')
  for (const [i, row] of rows.entries()) {
    const geometry = geometries![i]!
    writer.write(`${i === 0 ? '' : ',\n'}{"type":"Feature","geometry":`)
    if (geometry === null) writer.write('null')
    else if (geometry.length > MAX_COPIED) await writer.writeBytes(geometry, work)
    else writer.write(Buffer.from(geometry.buffer, geometry.byteOffset, geometry.length).toString())
    const properties = row.map((value, column) => `${names[column]}:${jsonValue(value)}`)
    writer.write(`,"properties":{${properties.join(',')}}}`)
    await work.next()
  }
  writer.write(`],"columns":${JSON.stringify(columns)},${countsOf(result)},"links":${JSON.stringify(links)}}`)
  return writer.end()
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
): Promise<WrittenBody> {
  const text = (value: string) => csvCell(escapeFormulas ? withoutFormula(value) : value)
  const cell = (value: ResultValue) =>
    value === null ? '' : typeof value === 'string' ? text(value) : String(value)
  const writer = new BodyWriter('csv')
  writer.write(columns.map(({ name }) => text(name)).join(',') + CSV_LINE_END)
  await work.each(rows.length, (i) => writer.write(rows[i]!.map(cell).join(',') + CSV_LINE_END))
  return writer.end()
}

/** Integers of any size are JSON numbers. Numbers are finite. */
function jsonValue(value: ResultValue): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
