/** What a query process is asked to do. It runs one query at a time. */
export type QueryRequest =
  | { kind: 'query'; id: number; sql: string; values: QueryValue[]; wants: 'positions' | 'rows' | 'texts' }
  /** Ends this query, if it is running, as soon as DuckDB notices. */
  | { kind: 'interrupt'; id: number }

/** The texts of positions in UTF-8, one after the other, and where each ends: a message of few objects is read at once. */
export interface PositionedTexts {
  positions: Uint32Array
  ends: Uint32Array
  bytes: Uint8Array
}

/** Bytes are a blob. */
export type QueryValue = string | number | bigint | boolean | Uint8Array

/** `id` is that of the query. A process that is worn has kept so much memory that it should be replaced. */
export type QueryReply = { id: number; isWorn: boolean } & QueryOutcome

export type QueryOutcome =
  | { kind: 'positions'; positions: Uint32Array }
  | ({ kind: 'texts' } & PositionedTexts)
  | { kind: 'rows'; rows: (string | null)[][] }
  | { kind: 'failed'; message: string }
  /** The process has more memory than it may have, in bytes; it expects to be killed. */
  | { kind: 'exceeded'; bytes: number }

/** How a query process is started; it gets this as its only argument, in JSON. */
export interface QueryProcessOptions {
  /** The folder whose files queries may read. */
  folder: string
  threads: number
  /** What DuckDB may use by its own count. */
  databaseMegabytes: number
  /** What the process may have in memory, as the operating system counts it. */
  maxMegabytes: number
  /** What it may have left after a query. */
  wornMegabytes: number
}
