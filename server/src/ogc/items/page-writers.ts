import { writeItemsHtml } from '../html/features.ts'
import type { ItemsEncoding } from '../request/encodings.ts'
import { writeCsv } from '../write/csv-page.ts'
import { writeFlatgeobuf } from '../write/flatgeobuf-page.ts'
import { writeGeojson, writeGeojsonSeq, writeNdjson } from '../write/geojson-page.ts'
import { writeJsonFg } from '../write/json-fg-page.ts'
import type { WritePage } from '../write/page-content.ts'

/** The writer of each encoding. An encoding without a writer is a compile-time error. */
export const PAGE_WRITERS: Record<ItemsEncoding['name'], WritePage> = {
  json: writeGeojson,
  jsonfg: writeJsonFg,
  ndjson: writeNdjson,
  geojsonseq: writeGeojsonSeq,
  csv: writeCsv,
  fgb: writeFlatgeobuf,
  html: writeItemsHtml,
}
