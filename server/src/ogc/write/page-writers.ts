import { writeItemsHtml } from '../html/features.ts'
import type { ItemsEncoding } from '../request/encodings.ts'
import { writeCsv } from './csv-page.ts'
import { writeFlatgeobuf } from './flatgeobuf-page.ts'
import { writeGeojson, writeGeojsonSeq, writeNdjson } from './geojson-page.ts'
import { writeJsonFg } from './json-fg-page.ts'
import type { WritePage } from './page-content.ts'

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
