import { open } from 'node:fs/promises'
import { zstdDecompressSync } from 'node:zlib'
import {
  CompressionType,
  compressionRegistry,
  type RecordBatch,
  RecordBatchReader,
  type Schema,
} from 'apache-arrow'
import type { Feature, FeatureStream, UnreadableRow, Value } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import { invalidText } from '../reading/invalid-text.ts'
import { DEFAULT_LIMITS, type SourceLimits } from '../reading/source-limits.ts'
import { type ArrowColumn, arrowColumn } from './arrow-column.ts'
import { findArrowGeometry } from './arrow-geometry.ts'
import { isDamaged } from './arrow-texts.ts'
import { decompressLz4Frame } from './lz4-frame.ts'

const BATCH_ROWS = 2000
/** The max decompressed size of one column of one record batch. */
const MAX_BUFFER_BYTES = 1 << 30

compressionRegistry.set(CompressionType.LZ4_FRAME, {
  decode: (bytes) => decompressLz4Frame(bytes, MAX_BUFFER_BYTES),
})
compressionRegistry.set(CompressionType.ZSTD, {
  decode: (bytes) => zstdDecompressSync(bytes, { maxOutputLength: MAX_BUFFER_BYTES }),
})

/** Reads Arrow's file format, also known as Feather version 2, and its stream format, batch by batch. */
export async function openArrow(
  path: string,
  file: string,
  options: { limits?: SourceLimits } = {},
): Promise<FeatureStream> {
  const limits = options.limits ?? DEFAULT_LIMITS
  const handle = await open(path)
  let reader: RecordBatchReader
  let size: number
  try {
    size = (await handle.stat()).size
    reader = await (await RecordBatchReader.from(handle)).open()
    if (!reader.schema) throw new Error('it has no schema')
  } catch (error) {
    await handle.close()
    throw damaged(file, error)
  }
  const schema: Schema = reader.schema
  if (schema.fields.length > limits.columns) {
    await handle.close()
    throw new SourceError(`${file} has ${schema.fields.length} columns; at most ${limits.columns} are read.`)
  }
  const geometry = findArrowGeometry(schema, file)
  const columns = schema.fields
    .map((field, index) => arrowColumn(field, index))
    .filter(({ index }) => index !== geometry?.index)
  let bytesRead = 0
  let row = 0
  const toFeatures = (batch: RecordBatch, from: number): (Feature | UnreadableRow)[] => {
    const features: (Feature | UnreadableRow)[] = []
    const shapes = geometry && batch.getChildAt(geometry.index)
    const vectors = columns.map(({ index }) => batch.getChildAt(index))
    for (let i = from; i < Math.min(batch.numRows, from + BATCH_ROWS); i++) {
      row++
      const shape = geometry ? geometry.read(shapes?.get(i)) : null
      if (typeof shape === 'string') features.push({ row, problem: shape })
      else {
        const values = columns.map((column: ArrowColumn, c): Value => column.read(vectors[c] ?? null, i))
        const damaged = columns.find((_, c) => isDamaged(values[c]!, vectors[c] ?? null, i))
        if (damaged) features.push({ row, problem: invalidText(damaged.name) })
        else features.push({ id: null, values, geometry: shape, row })
      }
    }
    return features
  }
  return {
    columns: columns.map(({ name, type, index }) => ({ name, type, number: index + 1 })),
    notes: columns.flatMap(({ note }) => note ?? []),
    crs: geometry?.crs ?? null,
    spatial: geometry !== null,
    totalBytes: size,
    get bytesRead() {
      return bytesRead
    },
    async *batches() {
      try {
        for await (const batch of reader as AsyncIterable<RecordBatch>) {
          for (let from = 0; from < batch.numRows; from += BATCH_ROWS) yield toFeatures(batch, from)
          bytesRead = Math.min(size, bytesRead + batch.data.byteLength)
        }
      } catch (error) {
        throw damaged(file, error)
      } finally {
        await handle.close()
      }
    },
  }
}

function damaged(file: string, error: unknown): Error {
  if (error instanceof SourceError) return error
  return new SourceError(
    `${file} is not whole or not valid Arrow: ${(error as Error).message.replace(/\.$/, '')}.`,
  )
}
