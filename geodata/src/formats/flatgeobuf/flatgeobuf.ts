import { ByteBuffer } from 'flatbuffers'
import { findEpsg } from '../../crs/epsg.ts'
import type { Feature, FeatureStream, SourceColumn, UnreadableRow } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import type { ByteSource } from '../reading/byte-source.ts'
import { ByteWindow } from '../reading/byte-window.ts'
import { DEFAULT_LIMITS, largerThan, type SourceLimits } from '../reading/source-limits.ts'
import { readFlatgeobufGeometry } from './flatgeobuf-geometry.ts'
import {
  FgbFeature,
  type FgbHeader,
  ColumnType as FgbType,
  fgbIndexBytes,
  readFgbHeader,
} from './flatgeobuf-tables.ts'
import { readFlatgeobufValues } from './flatgeobuf-values.ts'

const BATCH_ROWS = 2000
const MAGIC_BYTES = 8
const MAX_HEADER_BYTES = 16 << 20

/** Reads FlatGeobuf sequentially; its index is skipped. */
export async function openFlatgeobuf(
  source: ByteSource,
  options: { limits?: SourceLimits } = {},
): Promise<FeatureStream> {
  const limits = options.limits ?? DEFAULT_LIMITS
  const { file } = source
  const window = new ByteWindow(source.bytes)
  const header = await readHeader(window, file)
  const fields = header.columns
  if (fields.length > limits.columns)
    throw new SourceError(`${file} has ${fields.length} columns; at most ${limits.columns} are read.`)
  const hasIndex = header.indexNodeSize > 0 && header.featuresCount > 0
  const indexBytes = hasIndex ? fgbIndexBytes(header.featuresCount, header.indexNodeSize) : 0
  if (!(await window.skip(indexBytes))) throw new SourceError(`${file} ends too early: inside its index.`)
  return {
    columns: fields.map(({ name, type }): SourceColumn => ({ name, type: columnType(type) })),
    notes: [],
    crs: crsOf(header),
    spatial: true,
    totalBytes: source.totalBytes,
    get bytesRead() {
      return window.position
    },
    async *batches() {
      try {
        yield* readFeatures(window, header, file, limits)
      } finally {
        await window.close()
      }
    },
  }
}

async function readHeader(window: ByteWindow, file: string): Promise<FgbHeader> {
  const endsEarly = () => new SourceError(`${file} ends too early: inside its header.`)
  if (!(await window.fill(MAGIC_BYTES + 4))) throw endsEarly()
  const length = window.bytes.readUInt32LE(window.at + MAGIC_BYTES)
  if (length > MAX_HEADER_BYTES)
    throw new SourceError(`${file} is damaged: its header claims ${length} bytes.`)
  if (!(await window.fill(MAGIC_BYTES + 4 + length))) throw endsEarly()
  const start = window.at + MAGIC_BYTES
  const bytes = Uint8Array.from(window.bytes.subarray(start, start + 4 + length))
  window.at = start + 4 + length
  try {
    return readFgbHeader(bytes)
  } catch {
    throw new SourceError(`${file} is damaged: its header cannot be read.`)
  }
}

function columnType(type: number): SourceColumn['type'] {
  switch (type) {
    case FgbType.Bool:
      return 'boolean'
    case FgbType.Float:
    case FgbType.Double:
      return 'number'
    case FgbType.Json:
      return 'json'
    // Dates without a time have the same type.
    case FgbType.DateTime:
      return 'infer-json'
    case FgbType.String:
    case FgbType.Binary:
      return 'text'
    default:
      return 'integer'
  }
}

function crsOf({ crs }: FgbHeader): string | null {
  if (!crs) return null
  // Prefer the code to the WKT, unless the code is not in our list.
  if (crs.code > 0 && (findEpsg(crs.code) || !crs.wkt)) return `${crs.org || 'EPSG'}:${crs.code}`
  return crs.wkt || crs.codeString || null
}

async function* readFeatures(
  window: ByteWindow,
  header: FgbHeader,
  file: string,
  limits: SourceLimits,
): AsyncGenerator<(Feature | UnreadableRow)[]> {
  const reader = new FeatureReader(header)
  let batch: (Feature | UnreadableRow)[] = []
  let row = 0
  for (;;) {
    if (window.available < 4 && !(await window.fill(4))) break
    const length = window.bytes.readUInt32LE(window.at)
    if (length > limits.rowBytes)
      throw new SourceError(`${file}: feature ${row + 1} is ${largerThan(limits.rowBytes)}.`)
    if (window.available < 4 + length && !(await window.fill(4 + length)))
      throw new SourceError(`${file} ends too early: inside feature ${row + 1}.`)
    const bytes = window.bytes.subarray(window.at, window.at + 4 + length)
    window.at += 4 + length
    batch.push(reader.read(bytes, ++row))
    if (batch.length === BATCH_ROWS) {
      yield batch
      batch = []
    }
  }
  if (batch.length > 0) yield batch
  if (window.available > 0 || (header.featuresCount > 0 && row < header.featuresCount))
    throw new SourceError(`${file} ends too early: after feature ${row} of ${header.featuresCount}.`)
}

class FeatureReader {
  readonly #columns: FgbHeader['columns']
  readonly #geometryType: number
  /** Numbers are read in place and must be aligned to eight bytes, so each feature is first copied here. */
  #scratch = new Uint8Array(1 << 16)
  #buffer = new ByteBuffer(this.#scratch)

  constructor(header: FgbHeader) {
    this.#columns = header.columns
    this.#geometryType = header.geometryType
  }

  read(bytes: Buffer, row: number): Feature | UnreadableRow {
    if (bytes.length > this.#scratch.length) {
      this.#scratch = new Uint8Array(bytes.length * 2)
      this.#buffer = new ByteBuffer(this.#scratch)
    }
    this.#scratch.set(bytes)
    this.#buffer.setPosition(0)
    try {
      const feature = new FgbFeature(this.#buffer)
      if (feature.hasColumns && this.#columns.length === 0)
        return { row, problem: 'the feature declares columns of its own' }
      const { geometry } = feature
      return {
        id: null,
        values: readFlatgeobufValues(feature.properties, this.#columns),
        geometry: geometry && readFlatgeobufGeometry(geometry, this.#geometryType),
        row,
      }
    } catch (error) {
      if (error instanceof SourceError) return { row, problem: error.message }
      // Invalid offsets make typed arrays throw.
      if (error instanceof RangeError || error instanceof TypeError)
        return { row, problem: 'the feature is damaged' }
      throw error
    }
  }
}
