import type { FeatureStream } from '../../feature.ts'
import type { CsvBlock, CsvLayout } from '../csv/csv-parser.ts'
import type { GeojsonBlock } from '../geojson/geojson-scanner.ts'
import type { ParquetBlock, ParquetOptions } from '../parquet/parquet.ts'

/** A piece of a source that can be parsed by itself; its arrays own their memory, so that it can be given away. */
export type SourceBlock = GeojsonBlock | CsvBlock | ParquetBlock

/** What the parser of a source's blocks must know: plain data, so that it can go to another thread. */
export type BlockParsing =
  | { format: 'geojson'; file: string; maxColumns: number | undefined }
  | { format: 'csv'; layout: CsvLayout }
  | { format: 'parquet'; path: string; file: string; options: ParquetOptions }

/** A source that is cut into blocks quickly, and parsed where there is time for it. */
export interface BlockStream extends FeatureStream {
  readonly parsing: BlockParsing
  /** Use either this or `batches`, once. */
  blocks(): AsyncGenerator<SourceBlock>
}

export function isBlockStream(stream: FeatureStream): stream is BlockStream {
  return 'blocks' in stream
}

/** The memory of a block, which goes with it to another thread. */
export function blockArrays(block: SourceBlock): ArrayBuffer[] {
  if (!('bytes' in block)) return []
  return 'ranges' in block ? [block.bytes.buffer, block.ranges.buffer] : [block.bytes.buffer]
}

export function blockRows(block: SourceBlock): number {
  return 'ranges' in block ? block.ranges.length / 2 : block.rows
}
