import { SingleFlights } from '@wayleave/geodata/base'
import {
  type ColumnCache,
  CompiledColumn,
  PositionBits,
  quoteName,
  type Snapshot,
} from '@wayleave/geodata/features'
import type { Column } from '@wayleave/geodata/geometry'
import type { DuckdbQueries } from '../../by-duckdb/duckdb-queries.ts'
import { invalidParameter } from '../../query-error.ts'
import type { TimedWork } from '../../work/timed-work.ts'

/** An estimate of a text in memory. */
const TEXT_BYTES = 80
/** Positions between two looks at the clock. */
const STEP = 1 << 15
/** The same for texts that are decoded. */
const TEXTS_STEP = 1024

/**
 * Texts with so many different values that they are not compiled. The database ranks them once for a snapshot, in about
 * a second for a million; then they have codes like other columns, in the same memory. Only the texts of a result are
 * read.
 */
export class RankedColumns {
  readonly #duckdb: DuckdbQueries
  readonly #cache: ColumnCache
  readonly #ranking = new SingleFlights<string, void>()
  /** The texts of a column by code; those that were not needed yet are missing. */
  readonly #texts = new WeakMap<CompiledColumn, string[]>()

  constructor(duckdb: DuckdbQueries, cache: ColumnCache) {
    this.#duckdb = duckdb
    this.#cache = cache
  }

  async load(snapshot: Snapshot, column: Column, work: TimedWork): Promise<CompiledColumn> {
    if (column.type !== 'text') throw notCompiled(column)
    const key = `${snapshot.folder}\nranked\n${column.name}`
    for (;;) {
      const cached = this.#cache.derived<CompiledColumn>(key)
      if (cached) return cached
      let own: CompiledColumn | null = null
      let isOwn = false
      const ranking = this.#ranking.run(key, async () => {
        isOwn = true
        own = await this.#rank(snapshot, column, work)
        this.#cache.keep(key, own, bytesOf(own))
      })
      // The request that ranks may be aborted: then this one does it.
      await ranking.catch((error: unknown) => {
        if (isOwn) throw error
      })
      if (own) return own
      work.check()
    }
  }

  has(column: CompiledColumn): boolean {
    return this.#texts.has(column)
  }

  /** Reads the texts of these codes, if the column is one of these. */
  async read(
    snapshot: Snapshot,
    column: CompiledColumn,
    codes: readonly Uint32Array[],
    work: TimedWork,
  ): Promise<void> {
    const texts = this.#texts.get(column)
    if (texts === undefined) return
    const bits = PositionBits.empty(column.codes.length)
    let isMissing = false
    for (const list of codes) {
      await work.inSteps(list.length, STEP, (from, to) => {
        for (let i = from; i < to; i++) {
          const code = list[i]!
          if (code === 0 || texts[code - 1] !== undefined) continue
          // The first feature that has the text.
          bits.add(column.order![column.starts[code]!]!)
          isMissing = true
        }
      })
    }
    if (!isMissing) return
    const name = quoteName(column.name)
    const sql = (from: string) =>
      `SELECT file_row_number, ${name} FROM ${from} WHERE get_bit(CAST(CAST($1 AS BLOB) AS BIT), CAST(file_row_number AS INTEGER)) = 1`
    const source = { snapshot, columns: new Map([[column.name, name]]) }
    const { positions, ends, bytes } = await this.#duckdb.textsAt(source, sql, [bits.bytes], work)
    const read = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    await work.inSteps(positions.length, TEXTS_STEP, (from, to) => {
      for (let i = from; i < to; i++) {
        const text = read.toString('utf8', i === 0 ? 0 : ends[i - 1], ends[i])
        texts[column.codes[positions[i]!]! - 1] = text
      }
    })
  }

  async #rank(snapshot: Snapshot, { name, type }: Column, work: TimedWork): Promise<CompiledColumn> {
    const quoted = quoteName(name)
    const sql = (from: string) =>
      `SELECT CASE WHEN ${quoted} IS NULL THEN 0 ELSE dense_rank() OVER (PARTITION BY ${quoted} IS NULL ORDER BY ${quoted}) END FROM ${from} ORDER BY file_row_number`
    const source = { snapshot, columns: new Map([[name, quoted]]) }
    const codes = await this.#duckdb.positions(source, sql, [], work)
    const distinct = await largest(codes, work)
    const texts: string[] = new Array(distinct)
    const { starts, order } = await postingLists(codes, distinct, work)
    const none = new Uint32Array(0)
    const parts = { values: texts, codes, starts, order, blockMin: none, blockMax: none, blockCounts: null }
    const column = new CompiledColumn(name, type, { ...parts, edges: none, below: new Int32Array(0) })
    this.#texts.set(column, texts)
    return column
  }
}

function bytesOf({ codes, values }: CompiledColumn): number {
  return codes.length * 8 + values.length * TEXT_BYTES
}

function notCompiled({ name, type }: Column): Error {
  return invalidParameter(
    'measures',
    `and groupby cannot use "${name}": this ${type} column has no compiled form, because it has too many different values or the dataset was published by an older version`,
  )
}

async function largest(codes: Uint32Array, work: TimedWork): Promise<number> {
  let max = 0
  await work.inSteps(codes.length, STEP, (from, to) => {
    for (let i = from; i < to; i++) if (codes[i]! > max) max = codes[i]!
  })
  return max
}

async function postingLists(
  codes: Uint32Array,
  distinct: number,
  work: TimedWork,
): Promise<{ starts: Uint32Array; order: Uint32Array }> {
  const starts = new Uint32Array(distinct + 2)
  await work.inSteps(codes.length, STEP, (from, to) => {
    for (let i = from; i < to; i++) starts[codes[i]! + 1]!++
  })
  await work.inSteps(starts.length, STEP, (from, to) => {
    for (let code = Math.max(1, from); code < to; code++) starts[code]! += starts[code - 1]!
  })
  const next = starts.slice()
  const order = new Uint32Array(codes.length)
  await work.inSteps(codes.length, STEP, (from, to) => {
    for (let i = from; i < to; i++) order[next[codes[i]!]!++] = i
  })
  return { starts, order }
}
