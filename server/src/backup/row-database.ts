import { RowDigest, type TableDigest } from './row-digest.ts'
import type { TableShape } from './table-shapes-store.ts'

/** The control database holds texts and whole numbers below 2^53, so a row is plain JSON on both databases. */
export type Value = string | number | null
export type Row = Value[]

/** One consistent state of a control database, whatever is written to it meanwhile. */
export interface RowReader {
  kind: 'sqlite' | 'postgres'
  schemaVersion: number
  /** The table's rows in batches, with the columns in the order of the shape. */
  rows(shape: TableShape): AsyncIterable<Row[]>
  close(): Promise<void>
}

/** Fills an empty database inside one transaction: until `commit`, other connections see nothing of it. */
export interface RowWriter {
  insert(shape: TableShape, rows: Row[]): Promise<void>
  /** What the transaction has written, read back. */
  rows(shape: TableShape): AsyncIterable<Row[]>
  /** Sets the generated numbers to follow the highest, and throws if a foreign key has no row. */
  complete(shapes: TableShape[]): Promise<void>
  commit(): Promise<void>
  /** Undoes everything that is not committed, and disconnects. */
  close(): Promise<void>
}

export async function digestOf(source: Pick<RowReader, 'rows'>, shape: TableShape): Promise<TableDigest> {
  const digest = new RowDigest()
  for await (const batch of source.rows(shape)) for (const row of batch) digest.add(JSON.stringify(row))
  return digest.result()
}
