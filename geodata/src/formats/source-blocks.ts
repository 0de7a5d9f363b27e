import type { FeatureStream } from '../feature.ts'
import type { CsvBlock, CsvLayout } from './csv/csv-parser.ts'
import type { GeojsonBlock } from './geojson/geojson-scanner.ts'
import type { PlaceReading } from './geojson/json-fg.ts'
import type { ParquetBlock, ParquetOptions } from './parquet/parquet-block.ts'

/** A part of a source that can be parsed independently; its arrays own their memory (transferable). */
export type SourceBlock = GeojsonBlock | CsvBlock | ParquetBlock

/** What the parser of a source's blocks needs to know: plain data that can be posted to a worker. */
export type BlockParsing =
  | {
      format: 'geojson'
      file: string
      maxColumns: number | undefined
      place: PlaceReading | null
    }
  | { format: 'csv'; layout: CsvLayout }
  | { format: 'parquet'; path: string; file: string; options: ParquetOptions }

/** A source that can be split into blocks quickly, so that worker threads can parse them. */
export interface BlockStream extends FeatureStream {
  readonly parsing: BlockParsing
  /** Use either this or `batches`, and only once. */
  blocks(): AsyncGenerator<SourceBlock>
}

export function isBlockStream(stream: FeatureStream): stream is BlockStream {
  return 'blocks' in stream
}

/** The buffers of a block, to be transferred to another thread. */
export function blockArrays(block: SourceBlock): ArrayBuffer[] {
  if (!('bytes' in block)) return []
  return 'ranges' in block ? [block.bytes.buffer, block.ranges.buffer] : [block.bytes.buffer]
}

export function blockRows(block: SourceBlock): number {
  return 'ranges' in block ? block.ranges.length / 2 : block.rows
}
