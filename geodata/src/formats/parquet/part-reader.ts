import type { Value } from '../../feature.ts'
import { isUnreadable } from '../../feature.ts'
import { openParquet, type ParquetStream } from './parquet.ts'
import type { ParquetBlock, ParquetPart } from './parquet-block.ts'
import type { Batch } from './parquet-rows.ts'

/** Reads blocks of the parts of a source. One part is open at a time, because blocks come in the order of the parts. */
export class PartReader {
  readonly #parts: ParquetPart[]
  #index = -1
  #stream: ParquetStream | null = null

  constructor(parts: ParquetPart[]) {
    this.#parts = parts
  }

  async *read({ part, ...range }: ParquetBlock): AsyncGenerator<Batch> {
    const { path, file, options, ...rows } = this.#parts[part]!
    if (this.#index !== part || this.#stream === null) {
      this.close()
      this.#stream = await openParquet(path, file, options)
      this.#index = part
    }
    for await (const batch of this.#stream.read(range)) yield inSource(batch, rows)
  }

  close(): void {
    this.#stream?.close()
    this.#stream = null
  }
}

/** Numbers the rows of a part as rows of the source, and puts their values into its columns. */
function inSource(
  batch: Batch,
  { rowsBefore, places, constants }: Pick<ParquetPart, 'rowsBefore' | 'places' | 'constants'>,
): Batch {
  const isInOrder = places.every((place, i) => place === i)
  if (rowsBefore === 0 && constants.length === 0 && isInOrder) return batch
  for (const row of batch) {
    row.row += rowsBefore
    if (isUnreadable(row)) continue
    const { values } = row
    const own: Value[] = isInOrder ? values : places.map((place) => values[place]!)
    for (const constant of constants) own.push(constant)
    row.values = own
  }
  return batch
}
