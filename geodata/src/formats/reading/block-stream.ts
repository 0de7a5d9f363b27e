import type { FeatureStream } from '../../feature.ts'

/**
 * A source that can be split into blocks quickly, so that worker threads can parse them. `Parsing` is what the parser of
 * the blocks needs to know: plain data that can be posted to a worker.
 */
export interface BlockStream<Parsing, Block> extends FeatureStream {
  readonly parsing: Parsing
  /** Use either this or `batches`, and only once. */
  blocks(): AsyncGenerator<Block>
}
