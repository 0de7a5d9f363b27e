import type { Column } from '../../feature.ts'
import { type PropertySlices, stringValue } from '../../pack/property-slices.ts'
import { ByteSink } from '../byte-sink.ts'
import type { Field } from './fields.ts'

const QUOTE = 0x22
const SPACE = 0x20
const TRUE = 0x74

/** The attributes of one layer: dBase III with UTF-8 text, which the `.cpg` file declares. */
export class DbfWriter {
  readonly #sink: ByteSink
  readonly #fields: readonly Field[]
  readonly #json: boolean[]
  /** The bytes of a record. */
  readonly recordLength: number
  readonly #modified: Date
  #records = 0

  constructor(path: string, fields: readonly Field[], columns: readonly Column[], modified: Date) {
    this.#sink = new ByteSink(path, { hashed: false })
    this.#fields = fields
    this.#json = columns.map(({ type }) => type === 'json')
    this.recordLength = fields.reduce((sum, { width }) => sum + width, 1)
    this.#modified = modified
    this.#sink.write(this.#header())
  }

  get length(): number {
    return this.#sink.length + 1
  }

  add(bytes: Buffer, values: PropertySlices): void {
    const at = this.#start()
    for (let c = 0; c < this.#json.length; c++) {
      const field = this.#fields[c]!
      const to = at + field.offset
      if (values.isNull(bytes, c)) {
        if (field.type === 'L') this.#sink.buffer[to] = 0x3f
      } else
        this.#put(
          field,
          bytes,
          values.starts[c]!,
          values.ends[c]!,
          values.escaped[c]! === 1,
          this.#json[c]!,
          to,
        )
    }
  }

  /** For a dataset without columns, because a shapefile must have at least one field. */
  addNumber(number: number): void {
    const at = this.#start()
    const { offset, width } = this.#fields[0]!
    this.#sink.buffer.write(String(number).padStart(width), at + offset, 'latin1')
  }

  #start(): number {
    const length = this.recordLength
    this.#sink.reserve(length)
    const at = this.#sink.at
    this.#sink.buffer.fill(SPACE, at, at + length)
    this.#sink.at = at + length
    this.#records++
    return at
  }

  #put(
    field: Field,
    bytes: Buffer,
    start: number,
    end: number,
    escaped: boolean,
    json: boolean,
    to: number,
  ): void {
    const out = this.#sink.buffer
    switch (field.type) {
      case 'L':
        out[to] = bytes[start] === TRUE ? 0x54 : 0x46
        return
      case 'D':
        // "YYYY-MM-DD", quotes included, to YYYYMMDD.
        for (let p = start + 1, at = to; p < end - 1; p++) if (bytes[p] !== 0x2d) out[at++] = bytes[p]!
        return
      case 'N':
      case 'F':
        for (let p = start, at = to + field.width - (end - start); p < end; p++) out[at++] = bytes[p]!
        return
    }
    if (escaped) {
      putCut(
        Buffer.from(stringValue(bytes, start, end).replaceAll('\0', ' ')),
        0,
        Infinity,
        field.width,
        out,
        to,
      )
    } else if (bytes[start] === QUOTE && !json) putCut(bytes, start + 1, end - 1, field.width, out, to)
    else putCut(bytes, start, end, field.width, out, to)
  }

  close(): void {
    this.#sink.write(Buffer.of(0x1a))
    this.#sink.patch(0, this.#header())
    this.#sink.close()
  }

  abandon(): void {
    this.#sink.abandon()
  }

  #header(): Buffer {
    const header = Buffer.alloc(32 + this.#fields.length * 32 + 1)
    header[0] = 0x03
    header[1] = Math.min(Math.max(this.#modified.getUTCFullYear() - 1900, 0), 255)
    header[2] = this.#modified.getUTCMonth() + 1
    header[3] = this.#modified.getUTCDate()
    header.writeUInt32LE(this.#records, 4)
    header.writeUInt16LE(header.length, 8)
    header.writeUInt16LE(this.recordLength, 10)
    this.#fields.forEach((field, i) => {
      const at = 32 + i * 32
      header.write(field.name, at)
      header.write(field.type, at + 11)
      header[at + 16] = field.width
      header[at + 17] = field.decimals
    })
    header[header.length - 1] = 0x0d
    return header
  }
}

/** Copies at most `width` bytes without splitting a character. */
function putCut(bytes: Buffer, start: number, end: number, width: number, out: Buffer, to: number): void {
  let last = Math.min(end, bytes.length)
  if (last - start > width) {
    last = start + width
    while (last > start && (bytes[last]! & 0xc0) === 0x80) last--
  }
  if (last - start > 48) bytes.copy(out, to, start, last)
  else for (let p = start; p < last; p++) out[to++] = bytes[p]!
}
