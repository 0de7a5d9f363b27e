import { isAscii } from 'node:buffer'
import type { ColumnType, SourceColumn, Value } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import type { ByteSource } from '../reading/byte-source.ts'
import { ByteWindow } from '../reading/byte-window.ts'
import type { SourceLimits } from '../reading/source-limits.ts'
import type { Encoding } from '../reading/text/encoding.ts'
import { statedEncoding } from './code-page.ts'
import { DbfTexts } from './dbf-texts.ts'

/** A field of a shapefile's attributes: dBase III with the extensions of later programs. */

interface Field {
  name: string
  type: string
  offset: number
  length: number
  read: (text: string, bytes: Buffer) => Value
}

const DELETED = 0x2a
/** Texts are padded with spaces. Line ends and tabs at the end of a text belong to it. */
const PADDING = / +$/
const HEADER_END = 0x0d
const DETECTION_BYTES = 1 << 18

export class DbfReader {
  readonly columns: SourceColumn[]
  readonly notes: string[] = []
  readonly rows: number
  readonly window: ByteWindow
  readonly #file: string
  readonly #recordLength: number
  readonly #fields: Field[]
  readonly #texts: DbfTexts
  #row = 0

  private constructor(
    window: ByteWindow,
    header: Buffer,
    file: string,
    stated: Encoding | null,
    limits: SourceLimits,
  ) {
    this.window = window
    this.#file = file
    this.rows = header.readUInt32LE(4)
    this.#recordLength = header.readUInt16LE(10)
    this.#texts = new DbfTexts(file, stated, this.notes, () => window.bytes.subarray(window.at))
    this.#fields = this.#readFields(header, limits)
    this.columns = this.#fields.map(({ name, type }) => ({ name, type: columnType(type) }))
  }

  /** `encoding` is the publisher's choice, which overrides what the file states. */
  static async open(
    source: ByteSource,
    cpg: string | null,
    limits: SourceLimits,
    encoding: Encoding | null = null,
  ): Promise<DbfReader> {
    const window = new ByteWindow(source.bytes)
    if (!(await window.fill(32)))
      throw new SourceError(`${source.file} ends too early: it has no dBase header.`)
    const headerLength = window.bytes.readUInt16LE(window.at + 8)
    if (headerLength < 33 || !(await window.fill(headerLength)))
      throw new SourceError(`${source.file} ends too early: its dBase header is not whole.`)
    const header = Buffer.from(window.bytes.subarray(window.at, window.at + headerLength))
    window.at += headerLength
    // Names may have to be decoded with an encoding that only the rows show.
    await window.fill(DETECTION_BYTES)
    return new DbfReader(window, header, source.file, encoding ?? statedEncoding(cpg, header[29]!), limits)
  }

  #readFields(header: Buffer, limits: SourceLimits): Field[] {
    const fields: Field[] = []
    let offset = 1
    for (let at = 32; at + 32 <= header.length && header[at] !== HEADER_END; at += 32) {
      const end = header.indexOf(0, at)
      const nameBytes = header.subarray(at, end >= 0 && end < at + 11 ? end : at + 11)
      const name = (this.#texts.decode(nameBytes) ?? nameBytes.toString('latin1')).trim()
      const code = String.fromCharCode(header[at + 11]!)
      const decimals = header[at + 17]!
      // Texts longer than 255 store the high byte of their length in the byte that numbers use for decimals.
      const length = header[at + 16]! + (code === 'C' ? decimals * 256 : 0)
      const type = code === 'N' && decimals > 0 ? 'F' : code
      const read = fieldReader(type)
      if (read) fields.push({ name, type, offset, length, read })
      else
        this.notes.push(
          `Column ${name} is left out: its dBase type ${code} keeps its values in another file.`,
        )
      offset += length
    }
    if (fields.length > limits.columns)
      throw new SourceError(`${this.#file} has ${fields.length} columns; at most ${limits.columns} are read.`)
    if (offset > this.#recordLength)
      throw new SourceError(`${this.#file} is damaged: its columns do not fit into its rows.`)
    return fields
  }

  /** Makes at least one row available; returns false at the end. */
  async fill(): Promise<boolean> {
    if (this.#row >= this.rows) return false
    if (await this.window.fill(this.#recordLength)) return true
    throw new SourceError(`${this.#file} ends too early: in row ${this.#row + 1} of ${this.rows}.`)
  }

  /**
   * The next row's values, or a sentence that says what is wrong with it; null if it is marked as deleted;
   * undefined if `fill` must be awaited first.
   */
  next(): Value[] | string | null | undefined {
    const { window } = this
    if (this.#row >= this.rows || window.available < this.#recordLength) return undefined
    const record = window.bytes.subarray(window.at, window.at + this.#recordLength)
    window.at += this.#recordLength
    this.#row++
    if (record[0] === DELETED) return null
    const text = record.toString('latin1')
    const plain = isAscii(record)
    const values: Value[] = new Array(this.#fields.length)
    for (let i = 0; i < values.length; i++) {
      const field = this.#fields[i]!
      const end = field.offset + field.length
      const bytes = record.subarray(field.offset, end)
      if (plain || field.type !== 'C') values[i] = field.read(text.slice(field.offset, end), bytes)
      else {
        const decoded = this.#texts.decode(bytes)
        if (decoded === null)
          return `the text of column ${field.name} is not valid ${this.#texts.encodingName}; name the encoding with --encoding`
        values[i] = trimmed(decoded)
      }
    }
    return values
  }
}

function columnType(type: string): ColumnType {
  switch (type) {
    case 'N':
    case 'I':
    case '+':
      return 'integer'
    case 'F':
    case 'O':
      return 'number'
    case 'L':
      return 'boolean'
    case 'D':
      return 'date'
    default:
      return 'text'
  }
}

function fieldReader(type: string): Field['read'] | null {
  switch (type) {
    case 'C':
      return trimmed
    case 'N':
    case 'F':
      return numeric
    case 'L':
      return (text) => (/^[TtYy1]/.test(text) ? true : /^[FfNn0]/.test(text) ? false : null)
    case 'D':
      return date
    case 'I':
    case '+':
      return (_, bytes) => (bytes.length === 4 ? bytes.readInt32LE(0) : null)
    case 'O':
      return (_, bytes) => (bytes.length === 8 ? bytes.readDoubleLE(0) : null)
    default:
      return null
  }
}

function trimmed(text: string): Value {
  const end = text.indexOf('\0')
  return (end < 0 ? text : text.slice(0, end)).replace(PADDING, '') || null
}

/** Asterisks mark a number that did not fit into its field. */
function numeric(text: string): Value {
  const digits = text.replaceAll('\0', ' ').trim()
  if (digits === '' || digits.startsWith('*')) return null
  const number = Number(digits)
  if (Number.isNaN(number)) return digits
  return Number.isSafeInteger(number) || !/^-?\d+$/.test(digits) ? number : BigInt(digits)
}

function date(text: string): Value {
  const digits = text.replaceAll('\0', ' ').trim()
  if (digits === '' || /^0+$/.test(digits)) return null
  return /^\d{8}$/.test(digits) ? `${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6)}` : digits
}
