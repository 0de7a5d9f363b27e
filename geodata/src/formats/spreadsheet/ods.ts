import type { FeatureStream, Value } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import { chooseLayer } from '../reading/choose-layer.ts'
import { DEFAULT_LIMITS, largerThan, type SourceLimits } from '../reading/source-limits.ts'
import { ZipArchive } from '../zip/zip.ts'
import { cellNumber } from './cell-number.ts'
import { isoDurationText } from './clock-text.ts'
import { formulaNotes } from './formula-notes.ts'
import { openSheetTable, type SheetRow } from './sheet-table.ts'
import type { SpreadsheetOptions } from './xlsx.ts'
import { parseWholeXml, parseXml, type XmlEvents } from './xml-events.ts'

const CONTENT = 'content.xml'
/** More than a spreadsheet can have; a file with more repeated rows is a bomb. */
const MAX_REPEATED_ROWS = 1 << 20

/** Reads one sheet of an OpenDocument spreadsheet as a stream. */
export async function openOds(
  path: string,
  file: string,
  options: SpreadsheetOptions = {},
): Promise<FeatureStream> {
  const limits = options.limits ?? DEFAULT_LIMITS
  const archive = await ZipArchive.open(path, file, limits)
  try {
    const sheets = await listSheets(archive)
    const candidates = options.layer === undefined ? sheets.filter(({ hasValues }) => hasValues) : sheets
    if (candidates.length === 0) throw new SourceError(`${file} has no sheet with rows.`)
    const { name } = chooseLayer(candidates, options.layer, file)
    const source = archive.source(CONTENT)
    const cells = new SheetCells(file, name, limits)
    const notes: string[] = []
    const rows = async function* (): AsyncGenerator<SheetRow[]> {
      try {
        for await (const _ of parseXml(source, cells)) {
          for (const repeated of cells.take()) yield* batchesOf(repeated)
          if (cells.hasEnded) break
        }
        notes.push(...formulaNotes(cells.emptyFormulas))
      } finally {
        archive.close()
      }
    }
    return await openSheetTable(
      { file, name, rows: rows(), totalBytes: null, bytesRead: () => 0, notes },
      { ...options, limits },
    )
  } catch (error) {
    archive.close()
    throw error
  }
}

async function listSheets(archive: ZipArchive): Promise<{ name: string; hasValues: boolean }[]> {
  const sheets: { name: string; hasValues: boolean }[] = []
  await parseWholeXml(archive.source(CONTENT), {
    open(name, attributes) {
      if (name === 'table') sheets.push({ name: attributes['table:name'] ?? '', hasValues: false })
      if (name === 'table-cell' && attributes['office:value-type'] && sheets.length > 0)
        sheets.at(-1)!.hasValues = true
    },
    close() {},
    text() {},
  })
  return sheets
}

/** A row and how often it is repeated. */
interface RepeatedRow {
  row: SheetRow
  count: number
}

const BATCH_ROWS = 1000

/** Repeats a row in batches, so that a million of them are never in memory together. */
function* batchesOf({ row, count }: RepeatedRow): Generator<SheetRow[]> {
  for (let from = 0; from < count; from += BATCH_ROWS)
    yield Array.from({ length: Math.min(BATCH_ROWS, count - from) }, () => [...row])
}

/** Collects the rows of the sheet with a name. */
class SheetCells implements XmlEvents {
  hasEnded = false
  /** The number of formulas without a stored result. */
  emptyFormulas = 0
  readonly #file: string
  readonly #name: string
  readonly #limits: SourceLimits
  #rows: RepeatedRow[] = []
  #rowBytes = 0
  #row: SheetRow = []
  #isInSheet = false
  #isInCell = false
  #isInNote = false
  /** How many paragraphs are open; text outside of them is only layout. */
  #paragraphs = 0
  #cell: { [name: string]: string } = {}
  #text = ''
  #column = 0
  #repeatedRows = 1

  constructor(file: string, name: string, limits: SourceLimits) {
    this.#file = file
    this.#name = name
    this.#limits = limits
  }

  take(): RepeatedRow[] {
    const rows = this.#rows
    this.#rows = []
    return rows
  }

  open(name: string, attributes: { [name: string]: string }): void {
    if (name === 'table') this.#isInSheet = !this.hasEnded && attributes['table:name'] === this.#name
    if (!this.#isInSheet) return
    if (name === 'table-row') {
      this.#row = []
      this.#rowBytes = 0
      this.#column = 0
      this.#repeatedRows = repeats(attributes['table:number-rows-repeated'])
    } else if (name === 'table-cell' || name === 'covered-table-cell') {
      this.#cell = attributes
      this.#text = ''
      this.#isInCell = true
    } else if (name === 'annotation') this.#isInNote = true
    else if (name === 'p') {
      if (this.#text !== '' && !this.#isInNote) this.#append('\n')
      this.#paragraphs++
    } else if (name === 's' && this.#isInCell && !this.#isInNote)
      this.#append(' '.repeat(Math.min(1000, repeats(attributes['text:c']))))
    else if (name === 'tab') this.#append('\t')
    else if (name === 'line-break') this.#append('\n')
  }

  text(text: string): void {
    if (this.#paragraphs > 0 && this.#isInCell && !this.#isInNote) this.#append(text)
  }

  #append(text: string): void {
    this.#text += text
    this.#refuseLarge(this.#text.length)
  }

  #refuseLarge(bytes: number): void {
    const { rowBytes } = this.#limits
    if (bytes > rowBytes) throw new SourceError(`${this.#file}: a row is ${largerThan(rowBytes)}.`)
  }

  close(name: string): void {
    if (!this.#isInSheet) return
    if (name === 'p') this.#paragraphs--
    else if (name === 'annotation') this.#isInNote = false
    else if (name === 'table-cell' || name === 'covered-table-cell') this.#addCell()
    else if (name === 'table-row') this.#addRow()
    else if (name === 'table') {
      this.#isInSheet = false
      this.hasEnded = true
    }
  }

  #addCell(): void {
    this.#isInCell = false
    const value = cellValue(this.#cell, this.#text)
    const count = repeats(this.#cell['table:number-columns-repeated'])
    if (value === null && this.#cell['table:formula'] !== undefined && valueType(this.#cell) === undefined)
      this.emptyFormulas += count
    // Empty cells up to the last column of the sheet are written as one repeated cell.
    if (value !== null) {
      if (this.#column + count > this.#limits.columns)
        throw new SourceError(
          `${this.#file} has ${this.#column + count} columns; at most ${this.#limits.columns} are read.`,
        )
      if (typeof value === 'string') this.#rowBytes += value.length * count
      this.#refuseLarge(this.#rowBytes)
      while (this.#row.length < this.#column) this.#row.push(null)
      for (let i = 0; i < count; i++) this.#row.push(value)
    }
    this.#column += count
  }

  #addRow(): void {
    if (this.#row.length === 0) return
    if (this.#repeatedRows > MAX_REPEATED_ROWS)
      throw new SourceError(`${this.#file} repeats a row ${this.#repeatedRows} times.`)
    this.#rows.push({ row: this.#row, count: this.#repeatedRows })
  }
}

function repeats(attribute: string | undefined): number {
  const count = Number(attribute ?? 1)
  return Number.isInteger(count) && count > 0 ? count : 1
}

function valueType(cell: { [name: string]: string }): string | undefined {
  return cell['office:value-type'] ?? cell['calcext:value-type']
}

function cellValue(cell: { [name: string]: string }, text: string): Value {
  switch (valueType(cell)) {
    case 'float':
    case 'currency':
    case 'percentage': {
      const number = cellNumber(cell['office:value'] ?? 'NaN')
      return Number.isNaN(number) ? text || null : number
    }
    case 'date': {
      const date = cell['office:date-value'] ?? ''
      return date || text || null
    }
    case 'time':
      return isoDurationText(cell['office:time-value'] ?? '') ?? (text || null)
    case 'boolean':
      return cell['office:boolean-value'] === 'true'
    case undefined:
      return null
    default:
      return text || cell['office:string-value'] || null
  }
}
