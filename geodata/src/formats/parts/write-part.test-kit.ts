import { query } from '../../compile/compile-fixture.ts'

const POINT =
  '{"version":"1.1.0","primary_column":"geometry","columns":{"geometry":{"encoding":"WKB","geometry_types":["Point"]}}}'

/** Writes points from `first` to `last` as GeoParquet. */
export async function writePart(
  path: string,
  first: number,
  last: number,
  values = 'n, n / 2 AS half',
): Promise<void> {
  const wkb = `('\\x01\\x01\\x00\\x00\\x00'::BLOB || '\\x00\\x00\\x00\\x00\\x00\\x00\\xF0\\x3F'::BLOB || '\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x40'::BLOB)`
  await query(
    `COPY (SELECT ${values}, ${wkb} AS geometry FROM range(${first}, ${last + 1}) t(n)) TO '${path}' (FORMAT parquet, KV_METADATA {geo: '${POINT}'})`,
  )
}
