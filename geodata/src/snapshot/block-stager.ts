import type { Geometry } from '../feature.ts'
import type { BlockParsing, SourceBlock } from '../formats/block-stream.ts'
import { type CsvBlock, CsvParser, type CsvRows } from '../formats/csv-parser.ts'
import type { RecordReader } from '../formats/csv-records.ts'
import { GeojsonParser } from '../formats/geojson-parser.ts'
import type { GeojsonBlock } from '../formats/geojson-scanner.ts'
import type { Stage } from './stage.ts'

/** Wide rows fill a chunk before their number does. */
const FLUSH_BYTES = 1 << 24

/** Parses the blocks of a source and stages their rows. */
export class BlockStager {
  readonly #stage: Stage
  readonly #take: (block: SourceBlock) => void
  #sinceFlush = 0

  constructor(parsing: BlockParsing, stage: Stage) {
    this.#stage = stage
    this.#take = parsing.format === 'csv' ? csvStaging(parsing, stage) : geojsonStaging(parsing, stage)
  }

  take(block: SourceBlock): void {
    this.#take(block)
    this.#sinceFlush += block.bytes.length
    if (this.#sinceFlush <= FLUSH_BYTES) return
    this.#stage.flush()
    this.#sinceFlush = 0
  }
}

function geojsonStaging({ file, maxColumns }: BlockParsing & { format: 'geojson' }, stage: Stage) {
  const parser = new GeojsonParser(file, maxColumns)
  // By name, because each thread finds the columns in an order of its own; hexadecimal, because the database
  // takes names that differ in case alone for one.
  const stagedName = (index: number) => Buffer.from(parser.columns[index]!.name, 'utf8').toString('hex')
  return (block: SourceBlock) => stage.add(parser.parse(block as GeojsonBlock), parser.columns, stagedName)
}

function csvStaging({ layout }: BlockParsing & { format: 'csv' }, stage: Stage) {
  const parser = new CsvParser(layout)
  stage.declareTexts(layout.kept.map((place) => layout.names[place]!))
  const rows: CsvRows = {
    unreadable: (row, problem) => stage.problem(row, problem),
    row: (row: number, geometry: Geometry | null, record: RecordReader, kept: number[]) =>
      stage.addTexts(row, geometry, record, kept),
  }
  return (block: SourceBlock) => parser.parse(block as CsvBlock, rows)
}
