import type { Geometry } from '../../feature.ts'
import { type CsvBlock, CsvParser, type CsvRows, csvColumns } from '../../formats/csv/csv-parser.ts'
import type { RecordReader } from '../../formats/csv/csv-records.ts'
import { GeojsonParser } from '../../formats/geojson/geojson-parser.ts'
import type { GeojsonBlock } from '../../formats/geojson/geojson-scanner.ts'
import type { ParquetBlock } from '../../formats/parquet/parquet-block.ts'
import { sourceColumns } from '../../formats/pgcopy/pgcopy-header.ts'
import { type PgcopyBlock, PgcopyParser, type PgcopyRows } from '../../formats/pgcopy/pgcopy-parser.ts'
import type { BlockParsing, SourceBlock } from '../../formats/source-blocks.ts'
import type { Stage } from './stage.ts'

type Parsing<Format extends BlockParsing['format']> = BlockParsing & { format: Format }

/** Parses the blocks of a source and stages their rows. */
export interface BlockStager {
  take(block: SourceBlock): Promise<void>
  close(): void
}

export async function openStager(parsing: BlockParsing, stage: Stage): Promise<BlockStager> {
  if (parsing.format === 'parquet') return parquetStager(parsing, stage)
  const take = staging(parsing, stage)
  return {
    async take(block) {
      take(block)
    },
    close() {},
  }
}

function staging(parsing: Exclude<BlockParsing, { format: 'parquet' }>, stage: Stage) {
  if (parsing.format === 'csv') return csvStaging(parsing, stage)
  return parsing.format === 'pgcopy' ? pgcopyStaging(parsing, stage) : geojsonStaging(parsing, stage)
}

function pgcopyStaging({ header }: Parsing<'pgcopy'>, stage: Stage) {
  const parser = new PgcopyParser(header)
  const kinds = header.columns.map(({ kind }) => kind)
  const indexes = kinds.flatMap((kind, i) => (kind === 'geometry' ? [] : [i]))
  stage.declareFields(
    sourceColumns(header),
    indexes.map((i) => kinds[i]!),
  )
  const rows: PgcopyRows = {
    unreadable: (row, problem) => stage.problem(row, problem),
    row: (row, fields) => stage.addFields(row, fields, indexes),
  }
  return (block: SourceBlock) => parser.read(block as PgcopyBlock, rows)
}

function geojsonStaging({ file, maxColumns, place }: Parsing<'geojson'>, stage: Stage) {
  const parser = new GeojsonParser(file, maxColumns, place)
  // Staged names are derived from the column name, because each thread discovers the columns in its own
  // order. They are hexadecimal, because the database treats names that differ only in case as equal.
  const stagedName = (index: number) => Buffer.from(parser.keys[index]!, 'utf8').toString('hex')
  return (block: SourceBlock) => {
    for (const rows of parser.parse(block as GeojsonBlock)) stage.add(rows, parser.columns, stagedName)
  }
}

function csvStaging({ layout }: Parsing<'csv'>, stage: Stage) {
  const parser = new CsvParser(layout)
  stage.declareTexts(csvColumns(layout))
  const rows: CsvRows = {
    unreadable: (row, problem) => stage.problem(row, problem),
    row: (row: number, geometry: Geometry | null, record: RecordReader, valueIndexes: number[]) =>
      stage.addTexts(row, geometry, record, valueIndexes),
  }
  return (block: SourceBlock) => parser.parse(block as CsvBlock, rows)
}

/** Reads the rows of its blocks itself, because data in another thread's database cannot be transferred. */
async function parquetStager({ columns, parts }: Parsing<'parquet'>, stage: Stage): Promise<BlockStager> {
  // This import loads the database, which other sources do not need.
  const { PartReader } = await import('../../formats/parquet/part-reader.ts')
  const reader = new PartReader(parts)
  return {
    async take(block) {
      for await (const batch of reader.read(block as ParquetBlock))
        stage.add(batch, columns, (index) => `column${index}`)
    },
    close: () => reader.close(),
  }
}
