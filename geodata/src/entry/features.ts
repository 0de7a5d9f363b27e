/** Reads the features and rows of a snapshot, and encodes them for pages. */

export { dateText, dayOf, microsecondsOf, timestampText } from '../calendar.ts'
export { wordsOf } from '../columns/code-bitmaps.ts'
export { ColumnCache } from '../columns/column-cache.ts'
export { readColumnDirectory, readCompiledColumn } from '../columns/column-reader.ts'
export { mostFrequent } from '../columns/column-statistics.ts'
export {
  BLOCK_ROWS,
  BLOCK_SHIFT,
  type Codes,
  CompiledColumn,
  MAX_COUNTED_CODES,
} from '../columns/compiled-column.ts'
export { writeColumns } from '../columns/write-columns.ts'
export { jsonText } from '../compile/values/json-text.ts'
export { CSV_LINE_END, csvCell, withoutFormula } from '../exports/csv/csv-value.ts'
export { FlatgeobufPage } from '../exports/flatgeobuf/flatgeobuf-page.ts'
export { type IntegerSize, integerSizes } from '../exports/integer-ranges.ts'
export type { ColumnType } from '../feature.ts'
export { parseJson } from '../formats/reading/parse-json.ts'
export { openDuckDb } from '../open-duckdb.ts'
export { PACK_SEPARATOR, sliceFeature } from '../pack/pack.ts'
export { PackCache } from '../pack/pack-cache.ts'
export { FeatureSlices } from '../pack/pack-reader.ts'
export { PositionBits } from '../pack/position-bits.ts'
export { PositionRuns } from '../pack/position-runs.ts'
export { PropertySlices, stringValue } from '../pack/property-slices.ts'
export { parquetSql, quoteName, quoteText } from '../quote-sql.ts'
export { buildTree, IndexTree, type TreeCount, treeNodeNumbers } from '../snapshot/index-tree.ts'
export { openSnapshot, type Snapshot } from '../snapshot/open.ts'
export { rowNames } from '../snapshot/row-names.ts'
export type { TreeWalk } from '../snapshot/tree-walk.ts'
export { timeSlices } from '../time-slices.ts'
