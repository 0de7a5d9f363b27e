import type { FeatureStream, Value } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import { chooseLayer } from '../reading/choose-layer.ts'
import { DEFAULT_LIMITS, largerThan, type SourceLimits } from '../reading/source-limits.ts'
import { ZipArchive } from '../zip/zip.ts'
import { cellNumber } from './cell-number.ts'
import { formulaNotes } from './formula-notes.ts'
import { type DateKind, serialText } from './serial-date.ts'
import { openSheetTable, type SheetRow } from './sheet-table.ts'
import { readDateStyles, readSharedTexts, readWorkbook, unescapeText } from './xlsx-parts.ts'
import { parseXml, type XmlEvents } from './xml-events.ts'

export interface SpreadsheetOptions {
  layer?: string
  header?: boolean
  skipLines?: number
  headerLines?: number
  limits?: SourceLimits
}

/** Reads one sheet of an Excel workbook as a stream; only the shared texts are held in memory. */
export async function openXlsx(
  path: string,
  file: string,
  options: SpreadsheetOptions = {},
): Promise<FeatureStream> {
  const limits = options.limits ?? DEFAULT_LIMITS
  const archive = await ZipArchive.open(path, file, limits)
  try {
    const { sheets, is1904 } = await readWorkbook(archive)
    const candidates = options.layer === undefined ? await sheetsWithRows(archive, sheets) : sheets
    if (candidates.length === 0) throw new SourceError(`${file} has no sheet with rows.`)
    const sheet = chooseLayer(candidates, options.layer, file)
    const texts = await readSharedTexts(archive)
    const styles = await readDateStyles(archive)
    const source = archive.source(sheet.path)
    const notes: string[] = []
    const cells = new SheetCells(file, { texts, styles, is1904 }, limits, notes)
    let bytesRead = 0
    const rows = async function* (): AsyncGenerator<SheetRow[]> {
      try {
        const counted = (async function* () {
          for await (const piece of source.bytes) {
            bytesRead += piece.length
            yield piece
          }
        })()
        for await (const _ of parseXml({ ...source, bytes: counted }, cells)) yield cells.take()
        cells.finish()
      } finally {
        archive.close()
      }
    }
    return await openSheetTable(
      {
        file,
        name: sheet.name,
        rows: rows(),
        totalBytes: source.totalBytes,
        bytesRead: () => bytesRead,
        notes,
      },
      { ...options, limits },
    )
  } catch (error) {
    archive.close()
    throw error
  }
}

/** Old versions of Excel add empty sheets to every workbook, which are not worth a question. */
async function sheetsWithRows<T extends { path: string }>(archive: ZipArchive, sheets: T[]): Promise<T[]> {
  if (sheets.length < 2) return sheets
  const filled: T[] = []
  for (const sheet of sheets) {
    let hasValue = false
    const events: XmlEvents = {
      open(name) {
        if (name === 'v' || name === 'is') hasValue = true
      },
      close() {},
      text() {},
    }
    for await (const _ of parseXml(archive.source(sheet.path), events)) if (hasValue) break
    if (hasValue) filled.push(sheet)
  }
  return filled
}

interface SheetDeps {
  texts: string[]
  styles: (DateKind | null)[]
  is1904: boolean
}

const LETTER_A = 65

/** Collects the rows of a sheet from its elements. */
class SheetCells implements XmlEvents {
  readonly #file: string
  readonly #parts: SheetDeps
  readonly #limits: SourceLimits
  readonly #notes: string[]
  #rows: SheetRow[] = []
  #row: SheetRow = []
  #rowBytes = 0
  #column = -1
  #type = ''
  #style = 0
  #text = ''
  #isValue = false
  #isFormula = false
  #errors = 0
  #emptyFormulas = 0

  constructor(file: string, parts: SheetDeps, limits: SourceLimits, notes: string[]) {
    this.#file = file
    this.#parts = parts
    this.#limits = limits
    this.#notes = notes
  }

  take(): SheetRow[] {
    const rows = this.#rows
    this.#rows = []
    return rows
  }

  finish(): void {
    if (this.#errors > 0)
      this.#notes.push(`${this.#errors} cells hold an error such as #N/A: published as null.`)
    this.#notes.push(...formulaNotes(this.#emptyFormulas))
  }

  open(name: string, attributes: { [name: string]: string }): void {
    if (name === 'c') {
      this.#column = this.#columnOf(attributes['r'])
      this.#type = attributes['t'] ?? 'n'
      this.#style = Number(attributes['s'] ?? 0)
      this.#text = ''
      this.#isFormula = false
    } else if (name === 'f') this.#isFormula = true
    else if (name === 'v' || name === 't') this.#isValue = true
    else if (name === 'row') {
      this.#row = []
      this.#rowBytes = 0
      this.#column = -1
    }
  }

  text(text: string): void {
    if (!this.#isValue) return
    this.#text += text
    this.#refuseLarge(this.#text.length)
  }

  #refuseLarge(bytes: number): void {
    const { rowBytes } = this.#limits
    if (bytes > rowBytes) throw new SourceError(`${this.#file}: a row is ${largerThan(rowBytes)}.`)
  }

  close(name: string): void {
    if (name === 'v' || name === 't') this.#isValue = false
    else if (name === 'c') {
      // A result of the type `str` may be an empty text.
      if (this.#isFormula && this.#text === '' && this.#type !== 'str') this.#emptyFormulas++
      const value = this.#value()
      if (value === null) return
      if (typeof value === 'string') this.#rowBytes += value.length
      this.#refuseLarge(this.#rowBytes)
      while (this.#row.length < this.#column) this.#row.push(null)
      this.#row[this.#column] = value
    } else if (name === 'row' && this.#row.length > 0) this.#rows.push(this.#row)
  }

  /** `AB12` is column 27, counted from 0. Without a reference, a cell follows the one before it. */
  #columnOf(reference: string | undefined): number {
    let column = 0
    if (reference === undefined) column = this.#column + 2
    else
      for (let i = 0; i < reference.length; i++) {
        const letter = reference.charCodeAt(i) - LETTER_A
        if (letter < 0 || letter > 25) break
        column = column * 26 + letter + 1
      }
    if (column > this.#limits.columns)
      throw new SourceError(
        `${this.#file} has a value in column ${column}; at most ${this.#limits.columns} are read.`,
      )
    return Math.max(0, column - 1)
  }

  #value(): Value {
    const text = this.#text
    switch (this.#type) {
      case 's':
        return this.#parts.texts[Number(text)] || null
      case 'str':
      case 'inlineStr':
        return unescapeText(text) || null
      case 'b':
        return text === '' ? null : text === '1' || text === 'true'
      case 'e':
        this.#errors++
        return null
      case 'd':
        return text || null
      default:
        return text === '' ? null : this.#number(text)
    }
  }

  #number(text: string): Value {
    const number = Number(text)
    if (Number.isNaN(number)) return text
    const kind = this.#parts.styles[this.#style] ?? null
    if (kind === null) return cellNumber(text)
    return serialText(number, kind, this.#parts.is1904) ?? number
  }
}
