import type { FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import type { Column } from '../feature.ts'
import { bytesFor, PlaneMemory } from './byte-planes.ts'
import { directoryBytes, type Section, type StoredColumn } from './column-file.ts'
import { type DictionaryValues, type Packed, packCodes } from './dictionary.ts'

/** In larger snapshots, only one column is in memory at a time. */
const MAX_ROWS_FOR_TWO = 5_000_000
/** A dictionary has eight bytes per value, and at most as many values as there are rows. */
const MAX_PLANES = 8

export interface RankedColumn {
  form: StoredColumn['form']
  values: DictionaryValues
  codes: Uint32Array
  counts: Uint32Array
  packDictionary: (memory: PlaneMemory) => Promise<Packed>
}

/** The file under construction: its columns, and then their directory. */
export class ColumnsFile {
  readonly #handle: FileHandle
  readonly #rows: number
  readonly #segmentRows: number
  readonly #memory: PlaneMemory
  readonly #stored: StoredColumn[] = []
  #at = 0
  /** The end of the last column that was added. */
  #adding: Promise<void> = Promise.resolve()

  constructor(handle: FileHandle, rows: number, segmentRows: number) {
    this.#handle = handle
    this.#rows = rows
    this.#segmentRows = segmentRows
    this.#memory = new PlaneMemory(rows * MAX_PLANES, rows <= MAX_ROWS_FOR_TWO)
  }

  /** Begins a column whose codes come in parts, in row order, and are below `codeCount`. */
  segments(codeCount: number): ColumnSegments {
    return new ColumnSegments(bytesFor(codeCount - 1), this.#segmentRows, (packed) => this.#write(packed))
  }

  /** Ends a column whose codes are in these segments. */
  async addSegments(
    { name, type }: Column,
    form: StoredColumn['form'],
    distinct: number,
    packed: Packed,
    segments: ColumnSegments,
  ): Promise<void> {
    const codes = await segments.finish()
    const dictionary = await this.#write(packed)
    this.#stored.push({ name, type, distinct, form, dictionary, codes, width: segments.width })
  }

  /**
   * Compresses a column, and writes it behind the others. Returns when the column before it is written, and when
   * the arrays of this one are no longer needed: it is compressed while the next one is ranked.
   */
  async add(column: Column, { form, values, codes, packDictionary }: RankedColumn): Promise<void> {
    const width = bytesFor(values.length)
    const packing = Promise.all([
      packDictionary(this.#memory),
      packCodes(codes, width, this.#segmentRows, this.#memory),
    ])
    const previous = this.#adding
    this.#adding = previous.then(async () => {
      const [dictionary, segments] = await packing
      const { name, type } = column
      const sections = { dictionary: await this.#write(dictionary), codes: [] as Section[] }
      for (const segment of segments) sections.codes.push(await this.#write(segment))
      this.#stored.push({ name, type, distinct: values.length, form, ...sections, width })
    })
    // If one of them fails, the next `await` throws; until then nobody waits for it.
    packing.catch(() => {})
    this.#adding.catch(() => {})
    await (this.#rows > MAX_ROWS_FOR_TWO ? this.#adding : previous)
  }

  async finish(): Promise<void> {
    await this.#adding
    const directory = { rows: this.#rows, segmentRows: this.#segmentRows, columns: this.#stored }
    await this.#handle.writeFile(directoryBytes(directory))
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.#adding])
    await this.#handle.close()
  }

  async #write({ packed, size }: Packed): Promise<Section> {
    const section = { at: this.#at, bytes: packed.length, crc32: crc32(packed), size }
    await this.#handle.writeFile(packed)
    this.#at += packed.length
    return section
  }
}

/** The codes of a column as they are written, segment by segment. */
class ColumnSegments {
  readonly width: number
  readonly #write: (packed: Packed) => Promise<Section>
  readonly #sections: Section[] = []
  readonly #memory: PlaneMemory
  readonly #codes: Uint32Array
  #length = 0

  constructor(width: number, segmentRows: number, write: (packed: Packed) => Promise<Section>) {
    this.width = width
    this.#write = write
    this.#memory = new PlaneMemory(segmentRows * width, true)
    this.#codes = new Uint32Array(segmentRows)
  }

  /** Adds the codes of the next rows. They may be used again when it returns. */
  async add(codes: Uint32Array): Promise<void> {
    for (let from = 0; from < codes.length; ) {
      const part = codes.subarray(from, from + this.#codes.length - this.#length)
      this.#codes.set(part, this.#length)
      this.#length += part.length
      from += part.length
      if (this.#length === this.#codes.length) await this.#end()
    }
  }

  async finish(): Promise<Section[]> {
    if (this.#length > 0 || this.#sections.length === 0) await this.#end()
    return this.#sections
  }

  async #end(): Promise<void> {
    const codes = this.#codes.subarray(0, this.#length)
    this.#length = 0
    const [packed] = await packCodes(codes, this.width, this.#codes.length, this.#memory)
    this.#sections.push(await this.#write(packed!))
  }
}
