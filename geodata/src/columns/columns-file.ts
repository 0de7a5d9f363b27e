import type { FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import type { Column } from '../feature.ts'
import { bytesFor, PlaneMemory } from './byte-planes.ts'
import { directoryBytes, type Section, type StoredColumn, type StoredLists } from './column-file.ts'
import { type DictionaryValues, type Packed, packCodes } from './dictionary.ts'
import { orderOf, startsOf } from './unpack-column.ts'
import { orderedParts, packCounts } from './write-lists.ts'

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
  readonly #hasLists: boolean
  readonly #memory: PlaneMemory
  readonly #stored: StoredColumn[] = []
  #at = 0
  /** The end of the last column that was added. */
  #adding: Promise<void> = Promise.resolve()

  /** `handle` is open for reading too. If `hasLists`, columns are written with their posting lists. */
  constructor(handle: FileHandle, rows: number, segmentRows: number, hasLists: boolean) {
    this.#handle = handle
    this.#rows = rows
    this.#segmentRows = segmentRows
    this.#hasLists = hasLists
    this.#memory = new PlaneMemory(rows * MAX_PLANES, rows <= MAX_ROWS_FOR_TWO)
  }

  /** Begins a column whose codes come in parts, in row order, and are below `codeCount`. */
  segments(codeCount: number): ColumnSegments {
    return new ColumnSegments(bytesFor(codeCount - 1), this.#segmentRows, (packed) => this.#write(packed))
  }

  /** Ends a column whose codes are in these segments. `counts` are the rows of each code. */
  async addSegments(
    { name, type }: Column,
    form: StoredColumn['form'],
    packed: Packed,
    segments: ColumnSegments,
    counts: Uint32Array,
  ): Promise<void> {
    const { width } = segments
    const codes = await segments.finish()
    const dictionary = await this.#write(packed)
    const column: StoredColumn = { name, type, distinct: counts.length - 1, form, dictionary, codes, width }
    if (this.#hasLists) {
      const parts = orderedParts({ handle: this.#handle, sections: codes, width, counts })
      column.lists = await this.#writeLists(await packCounts(counts), parts)
    }
    this.#stored.push(column)
  }

  /**
   * Compresses a column, and writes it behind the others. Returns when the column before it is written, and when
   * the arrays of this one are no longer needed: it is compressed while the next one is ranked.
   */
  async add({ name, type }: Column, ranked: RankedColumn): Promise<void> {
    const { form, values, codes, counts, packDictionary } = ranked
    const width = bytesFor(values.length)
    const packing = Promise.all([
      packDictionary(this.#memory),
      packCodes(codes, width, this.#segmentRows, this.#memory),
      this.#hasLists ? packCounts(counts) : null,
    ])
    const order = this.#hasLists ? orderOf(codes, startsOf(counts)) : null
    const previous = this.#adding
    this.#adding = previous.then(async () => {
      const [dictionary, segments, packedCounts] = await packing
      const sections = { dictionary: await this.#write(dictionary), codes: [] as Section[] }
      for (const segment of segments) sections.codes.push(await this.#write(segment))
      const column: StoredColumn = { name, type, distinct: values.length, form, ...sections, width }
      if (packedCounts && order) column.lists = await this.#writeLists(packedCounts, [order])
      this.#stored.push(column)
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

  async #writeLists(
    counts: Packed,
    order: Iterable<Uint32Array> | AsyncIterable<Uint32Array>,
  ): Promise<StoredLists> {
    const section = await this.#write(counts)
    const orderAt = this.#at
    for await (const { buffer, byteOffset, byteLength } of order) {
      await this.#handle.writeFile(new Uint8Array(buffer, byteOffset, byteLength))
      this.#at += byteLength
    }
    return { counts: section, orderAt }
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
