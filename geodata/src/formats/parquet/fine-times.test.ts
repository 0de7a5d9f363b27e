import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { compileSnapshot } from '../../compile/compile.ts'
import { readAll, scratch } from '../reading.test-kit.ts'
import { openParquet } from './parquet.ts'

needs('python')

const WRITE = `
import sys, pyarrow as pa, pyarrow.parquet as parquet
fine = [1700000000123456789, -1, None, -2208988800000000001]
table = pa.table({
  "fine": pa.array(fine, pa.timestamp("ns")),
  "whole": pa.array([1700000000123456000, -1000, None, 0], pa.timestamp("ns")),
  "nested": pa.array([[1], [], None, [2]], pa.list_(pa.timestamp("ns")))})
for name, options in (("dictionary", {}), ("plain", {"use_dictionary": False}), ("lz4", {"compression": "lz4"})):
  parquet.write_table(table, f"{sys.argv[1]}/{name}.parquet", use_deprecated_int96_timestamps=True, **options)
`

test('times of the type INT96 keep their nanoseconds, as text', async (t) => {
  const folder = scratch(t)
  execFileSync(process.env['WAYLEAVE_TEST_PYTHON'] ?? 'python3', ['-c', WRITE, folder])
  const nested =
    'Column nested has times in nanoseconds inside lists or structures: they are cut to microseconds.'
  for (const name of ['dictionary', 'plain']) {
    const path = join(folder, `${name}.parquet`)
    const { rows, stream } = await readAll(openParquet(path, 'a.parquet'))
    assert.deepEqual(
      rows.map(({ fine }) => fine),
      [
        '2023-11-14 22:13:20.123456789',
        '1969-12-31 23:59:59.999999999',
        null,
        '1899-12-31 23:59:59.999999999',
      ],
      name,
    )
    assert.deepEqual(
      rows.map(({ whole }) => whole),
      ['2023-11-14 22:13:20.123456', '1969-12-31 23:59:59.999999', null, '1970-01-01 00:00:00'],
      name,
    )
    assert.deepEqual(stream.notes, [nested])
    const { manifest } = await compileSnapshot({ path, folder: join(folder, name) })
    assert.deepEqual(
      manifest.columns.map(({ type }) => type),
      ['text', 'timestamp', 'json'],
    )
    assert.match(manifest.notes.join('\n'), /Column fine has values .* such as nanoseconds/)
  }
  const { stream } = await readAll(openParquet(join(folder, 'lz4.parquet'), 'lz4.parquet'))
  assert.deepEqual(stream.notes, [
    ...['fine', 'whole'].map(
      (name) =>
        `Column ${name} has times in nanoseconds, which could not be read exactly: they are cut to microseconds.`,
    ),
    nested,
  ])
})
