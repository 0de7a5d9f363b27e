import { type FileHandle, open } from 'node:fs/promises'
import { zstdDecompressSync } from 'node:zlib'
import {
  CompressionType,
  compressionRegistry,
  type RecordBatch,
  RecordBatchReader,
  type Schema,
  type Vector,
} from 'apache-arrow'
import type { Feature, FeatureStream, UnreadableRow, Value } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import { DEFAULT_LIMITS, largerThan, type SourceLimits } from '../reading/source-limits.ts'
import { invalidText } from '../reading/text/invalid-text.ts'
import { nestedBytes } from '../reading/value-bytes.ts'
import { arrowColumn } from './arrow-column.ts'
import { findArrowGeometry } from './arrow-geometry.ts'
import { isDamaged } from './arrow-texts.ts'
import { checkData } from './check-data.ts'
import { decompressLz4Frame } from './lz4-frame.ts'

const BATCH_ROWS = 2000
/** A batch of large rows ends earlier: a text in a dictionary takes memory for every row. */
const BATCH_BYTES = 1 << 24
/** The max decompressed size of one record batch, which is in memory as a whole. */
const MAX_BATCH_BYTES = 2 ** 31
/** What is left of it for the buffers of the current batch. */
let remainingBytes = MAX_BATCH_BYTES

function bounded(decompress: (bytes: Uint8Array, maxBytes: number) => Uint8Array) {
  return (bytes: Uint8Array) => {
    const decompressed = decompress(bytes, Math.min(remainingBytes, 1 << 30))
    remainingBytes -= decompressed.length
    return decompressed
  }
}

compressionRegistry.set(CompressionType.LZ4_FRAME, { decode: bounded(decompressLz4Frame) })
compressionRegistry.set(CompressionType.ZSTD, {
  decode: bounded((bytes, maxOutputLength) => zstdDecompressSync(bytes, { maxOutputLength })),
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
  const { geometry, columns } = await closingOnError(handle, () => columnsOf(schema, file, limits))
  let bytesRead = 0
  let row = 0
  const readRow = (vectors: (Vector | null)[], shapes: Vector | null, i: number): Feature | UnreadableRow => {
    const stored = geometry ? shapes?.get(i) : null
    const shape = geometry ? geometry.read(stored) : null
    if (typeof shape === 'string') return { row, problem: shape }
    const values: Value[] = new Array(columns.length)
    let bytes = stored instanceof Uint8Array || typeof stored === 'string' ? stored.length : 0
    for (let c = 0; c < columns.length; c++) {
      const vector = vectors[c]!
      const value = columns[c]!.read(vector, i)
      if (isDamaged(value, vector, i)) return { row, problem: invalidText(columns[c]!.name) }
      values[c] = value
      bytes += nestedBytes(value)
      if (bytes > limits.rowBytes)
        throw new SourceError(`${file}: row ${row} is ${largerThan(limits.rowBytes)}.`)
    }
    batchBytes += bytes
    return { id: null, values, geometry: shape, row }
  }
  let batchBytes = 0
  const toFeatures = function* (batch: RecordBatch): Generator<(Feature | UnreadableRow)[]> {
    for (const [index, { name }] of schema.fields.entries()) checkData(batch.data.children[index]!, name)
    checkData(batch.data, 'rows')
    const shapes = geometry && batch.getChildAt(geometry.index)
    const vectors = columns.map(({ index }) => batch.getChildAt(index))
    let features: (Feature | UnreadableRow)[] = []
    for (let i = 0; i < batch.numRows; i++) {
      row++
      features.push(readRow(vectors, shapes, i))
      if (features.length < BATCH_ROWS && batchBytes < BATCH_BYTES) continue
      yield features
      features = []
      batchBytes = 0
    }
    if (features.length > 0) yield features
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
          remainingBytes = MAX_BATCH_BYTES
          yield* toFeatures(batch)
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

function columnsOf(schema: Schema, file: string, limits: SourceLimits) {
  if (schema.fields.length > limits.columns)
    throw new SourceError(`${file} has ${schema.fields.length} columns; at most ${limits.columns} are read.`)
  const geometry = findArrowGeometry(schema, file)
  const columns = schema.fields
    .map((field, index) => arrowColumn(field, index))
    .filter(({ index }) => index !== geometry?.index)
  return { geometry, columns }
}

async function closingOnError<T>(handle: FileHandle, work: () => T): Promise<T> {
  try {
    return work()
  } catch (error) {
    await handle.close()
    throw error
  }
}

function damaged(file: string, error: unknown): Error {
  if (error instanceof SourceError) return error
  return new SourceError(
    `${file} is not whole or not valid Arrow: ${(error as Error).message.replace(/\.$/, '')}.`,
  )
}
