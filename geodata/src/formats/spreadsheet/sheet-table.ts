import type { Feature, FeatureStream, SourceColumn, Value } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import { looksLikeHeader } from '../csv/csv-dialect.ts'
import { type HeaderChoice, headerNotes, joinedNames } from '../reading/header-notes.ts'
import type { SourceLimits } from '../reading/source-limits.ts'

/** The cells of a row from the first column on; a missing value is null. */
export type SheetRow = Value[]

export interface Sheet {
  file: string
  name: string
  /** Rows without any value are left out. */
  rows: AsyncGenerator<SheetRow[]>
  totalBytes: number | null
  bytesRead: () => number
  notes: string[]
}

/** The number of rows used to detect the header. */
const SAMPLE_ROWS = 50

/** Makes a table of a sheet: the first row that is not empty has the names, unless it looks like a row. */
export async function openSheetTable(
  sheet: Sheet,
  options: HeaderChoice & { skipLines?: number; limits: SourceLimits },
): Promise<FeatureStream> {
  const { file, name, rows, notes } = sheet
  const first: SheetRow[] = []
  const { skipLines = 0 } = options
  while (first.length < SAMPLE_ROWS + skipLines) {
    const { value, done } = await rows.next()
    if (done) break
    first.push(...value)
  }
  if (first.length === 0) throw new SourceError(`${file}: the sheet ${name} has no rows.`)
  first.splice(0, skipLines)
  if (first.length === 0)
    throw new SourceError(
      `${file}: the sheet ${name} has no rows after the ${skipLines} that --skip-lines leaves out.`,
    )
  const texts = first
    .slice(0, SAMPLE_ROWS)
    .map((row) => row.map((value) => (value === null ? '' : String(value))))
  const isHeader =
    options.header ?? (options.headerLines !== undefined || looksLikeHeader(texts[0]!, texts.slice(1)))
  const headers = isHeader ? (options.headerLines ?? 1) : 0
  const names = joinedNames(texts.slice(0, headers))
  first.splice(0, headers)
  if (isHeader) notes.push(...headerNotes(texts, options))
  else notes.push('The sheet has no header: its columns are named column_1, column_2 and so on.')
  if (first.length === 0) throw new SourceError(`${file}: the sheet ${name} has a header but no rows.`)
  const columns: SourceColumn[] = []
  const widen = (width: number) => {
    if (width > options.limits.columns)
      throw new SourceError(`${file} has ${width} columns; at most ${options.limits.columns} are read.`)
    while (columns.length < width)
      columns.push({ name: names[columns.length] || `column_${columns.length + 1}`, type: 'infer-json' })
  }
  widen(Math.max(names.length, ...first.map((row) => row.length)))
  let count = 0
  const toFeatures = (batch: SheetRow[]): Feature[] =>
    batch.map((values) => {
      widen(values.length)
      return { id: null, values, geometry: null, row: ++count }
    })
  return {
    columns,
    notes,
    crs: null,
    spatial: false,
    totalBytes: sheet.totalBytes,
    get bytesRead() {
      return sheet.bytesRead()
    },
    async *batches() {
      try {
        yield toFeatures(first)
        for await (const batch of rows) if (batch.length > 0) yield toFeatures(batch)
      } finally {
        await rows.return(undefined)
      }
    },
  }
}
