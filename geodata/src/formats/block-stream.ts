import type { FeatureStream } from '../feature.ts'
import type { CsvBlock, CsvLayout } from './csv-parser.ts'
import type { GeojsonBlock } from './geojson-scanner.ts'

/** A piece of a source that can be parsed by itself; its arrays own their memory, so that it can be given away. */
export type SourceBlock = GeojsonBlock | CsvBlock

/** What the parser of a source's blocks must know: plain data, so that it can go to another thread. */
export type BlockParsing =
  | { format: 'geojson'; file: string; maxColumns: number | undefined }
  | { format: 'csv'; layout: CsvLayout }

/** A source that is cut into blocks quickly, and parsed where there is time for it. */
export interface BlockStream extends FeatureStream {
  readonly parsing: BlockParsing
  /** Use either this or `batches`, once. */
  blocks(): AsyncGenerator<SourceBlock>
}

export function isBlockStream(stream: FeatureStream): stream is BlockStream {
  return 'blocks' in stream
}

export function blockRows(block: SourceBlock): number {
  return 'ranges' in block ? block.ranges.length / 2 : block.rows
}
