import { RowDigest, type TableDigest } from './row-digest.ts'
import type { TableShape } from './table-shapes-store.ts'

/** The control database holds only text and integers below 2^53, so a row is plain JSON on both databases. */
export type Value = string | number | null
export type Row = Value[]

/** One consistent state of a control database, unaffected by concurrent writes. */
export interface RowReader {
  kind: 'sqlite' | 'postgres'
  schemaVersion: number
  /** The table's rows in batches, with the columns in the order of the shape. */
  rows(shape: TableShape): AsyncIterable<Row[]>
  close(): Promise<void>
}

/** Fills an empty database inside one transaction: nothing is visible to other connections until `commit`. */
export interface RowWriter {
  insert(shape: TableShape, rows: Row[]): Promise<void>
  /** Reads back what the transaction has written. */
  rows(shape: TableShape): AsyncIterable<Row[]>
  /** Sets the sequences to continue after the highest value, and throws if a foreign key is violated. */
  complete(shapes: readonly TableShape[]): Promise<void>
  commit(): Promise<void>
  /** Rolls back what is not committed, and disconnects. */
  close(): Promise<void>
}

export async function digestOf(source: Pick<RowReader, 'rows'>, shape: TableShape): Promise<TableDigest> {
  const digest = new RowDigest()
  for await (const batch of source.rows(shape)) for (const row of batch) digest.add(JSON.stringify(row))
  return digest.result()
}
