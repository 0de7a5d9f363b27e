import { closeSync, openSync, writevSync } from 'node:fs'
import { type PlainColumn, PlainParquet } from '../plain-parquet.ts'

/** The chunks of a file: a few hundred thousand rows. The database keeps the metadata of all files in memory. */
const MAX_GROUPS = 128
/** These are in every row. */
const REQUIRED = new Set(['row', 'key'])

/** A file under construction, with the columns of its first chunk. */
interface OpenFile {
  handle: number
  parquet: PlainParquet
  columns: Pick<PlainColumn, 'name' | 'type'>[]
  groups: number
}

/** Writes the chunks of a stage for the database, many to a file. A chunk with another column begins a new file. */
export class StagedFiles {
  readonly paths: string[] = []
  readonly #prefix: string
  #open: OpenFile | null = null

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  write(rows: number, columns: PlainColumn[]): void {
    if (this.#open === null || !fits(columns, this.#open)) {
      this.finish()
      const path = `${this.#prefix}-${this.paths.length}.parquet`
      const parquet = new PlainParquet({ isCompressed: false })
      this.#open = { handle: openSync(path, 'w'), parquet, columns, groups: 0 }
      this.paths.push(path)
    }
    const { handle, parquet } = this.#open
    const own = new Map(columns.map((column) => [column.name, column]))
    const group = this.#open.columns.map(({ name, type }) => nullable(own.get(name), name, type, rows))
    writeParts(handle, parquet.rowGroup(rows, group))
    this.#open.columns = group.map(({ name, type }) => ({ name, type }))
    if (++this.#open.groups === MAX_GROUPS) this.finish()
  }

  /** Ends the current file. */
  finish(): void {
    if (this.#open === null) return
    const { handle, parquet } = this.#open
    this.#open = null
    try {
      writeParts(handle, parquet.finish())
    } finally {
      closeSync(handle)
    }
  }
}

function fits(columns: PlainColumn[], { columns: expected }: OpenFile): boolean {
  return columns.every(({ name }) => expected.some((column) => column.name === name))
}

/** The column as one that may lack values, because it may in the next chunk of the file. */
function nullable(
  column: PlainColumn | undefined,
  name: string,
  type: PlainColumn['type'],
  rows: number,
): PlainColumn {
  const bytes = Math.ceil(rows / 8)
  if (column === undefined) return { name, type, present: new Uint8Array(bytes), data: new Uint8Array(0) }
  if (column.present !== null || REQUIRED.has(name)) return column
  return { ...column, present: new Uint8Array(bytes).fill(0xff) }
}

function writeParts(handle: number, parts: Uint8Array[]): void {
  // A chunk has three parts per column, and writev accepts at most 1,024 parts per call.
  for (let i = 0; i < parts.length; i += 512) writeAll(handle, parts.slice(i, i + 512))
}

function writeAll(handle: number, parts: Uint8Array[]): void {
  let unwrittenParts = parts.filter((part) => part.length > 0)
  while (unwrittenParts.length > 0) {
    let written = writevSync(handle, unwrittenParts)
    while (unwrittenParts.length > 0 && written >= unwrittenParts[0]!.length)
      written -= unwrittenParts.shift()!.length
    if (written > 0) unwrittenParts = [unwrittenParts[0]!.subarray(written), ...unwrittenParts.slice(1)]
  }
}
