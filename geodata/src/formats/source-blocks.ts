import type { FeatureStream } from '../feature.ts'
import type { CsvBlock, CsvParsing } from './csv/csv-parser.ts'
import type { GeojsonParsing } from './geojson/geojson-parser.ts'
import type { GeojsonBlock } from './geojson/geojson-scanner.ts'
import type { ParquetBlock, ParquetParsing } from './parquet/parquet-block.ts'
import type { PgcopyBlock, PgcopyParsing } from './pgcopy/pgcopy-parser.ts'
import type { BlockStream } from './reading/block-stream.ts'

/** A part of a source that can be parsed independently; its arrays own their memory (transferable). */
export type SourceBlock = GeojsonBlock | CsvBlock | ParquetBlock | PgcopyBlock

/** How the blocks of a source are parsed. */
export type BlockParsing = GeojsonParsing | CsvParsing | ParquetParsing | PgcopyParsing

export type SourceBlocks = BlockStream<BlockParsing, SourceBlock>

export function isBlockStream(stream: FeatureStream): stream is SourceBlocks {
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
