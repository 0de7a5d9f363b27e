import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { compileSnapshot } from '../../compile/compile.ts'
import { openSource } from '../index.ts'
import { readAll, scratch } from '../reading.test-kit.ts'

needs('python')

/** A Feather file of a table in Python. */
function feather(t: TestContext, table: string): string {
  const path = join(scratch(t), 'a.feather')
  const script = `
import sys, datetime, decimal, pyarrow as pa, pyarrow.feather as feather
D = decimal.Decimal
feather.write_feather(${table}, sys.argv[1])
`
  execFileSync(process.env['WAYLEAVE_TEST_PYTHON'] ?? 'python3', ['-c', script, path])
  return path
}

test('decimals of Arrow are numbers up to 15 digits, integers without decimals, and text beyond', async (t) => {
  const path = feather(
    t,
    `pa.table({
  "price": pa.array([D("-1.25"), D("12345678.90"), None], pa.decimal128(10, 2)),
  "fifteen": pa.array([D("1234567890123.45"), D("0.10"), None], pa.decimal128(15, 2)),
  "sixteen": pa.array([D("12345678901234.56"), D("-0.05"), None], pa.decimal128(16, 2)),
  "count": pa.array([D("1"), D("-12345678901234567890"), None], pa.decimal128(38, 0)),
  "wide": pa.array([D("1.00"), D("-" + "7" * 50 + ".01"), None], pa.decimal256(60, 2)),
  "hundreds": pa.array([D("1.2E3"), D("-7E2"), None], pa.decimal128(5, -2)),
  "nested": pa.array([[D("1.50")], [], None], pa.list_(pa.decimal128(10, 2))),
  "bytes": pa.array([b"\\x00\\xff", b"", None], pa.binary_view())})`,
  )
  const { stream, rows } = await readAll(openSource(path))
  assert.deepEqual(rows, [
    {
      price: -1.25,
      fifteen: 1234567890123.45,
      sixteen: '12345678901234.56',
      count: 1,
      wide: '1.00',
      hundreds: 1200,
      nested: [1.5],
      bytes: 'AP8=',
    },
    {
      price: 12345678.9,
      fifteen: 0.1,
      sixteen: '-0.05',
      count: -12345678901234567890n,
      wide: `-${'7'.repeat(50)}.01`,
      hundreds: -700,
      nested: [],
      bytes: '',
    },
    Object.fromEntries(stream.columns.map(({ name }) => [name, null])),
  ])
  assert.deepEqual(
    stream.columns.map(({ type }) => type),
    ['number', 'number', 'text', 'integer', 'text', 'integer', 'json', 'text'],
  )
  assert.deepEqual(
    stream.notes,
    [
      ['sixteen', 16],
      ['wide', 60],
    ].map(
      ([name, digits]) =>
        `Column ${name} has decimals of ${digits} digits, more than a number holds exactly: it is kept as text.`,
    ),
  )
})

test('dates and times of Arrow far from 1970 are whole texts, and the report says so', async (t) => {
  const path = feather(
    t,
    `pa.table({
  "day": pa.array([2932897, 2**31 - 1, -2**31, -719163, None], pa.int32()).cast(pa.date32()),
  "long": pa.array([253402300800000, 86400000 * 200000000, -86400000, -1 - 2**62, None], pa.int64()).view(pa.date64()),
  "plain": pa.array([0, 1, 2, 2932896, -719162], pa.int32()).cast(pa.date32()),
  "at": pa.array([253402300800, 2**62, -2**62, -62135596801, None], pa.timestamp("s"))})`,
  )
  const { rows } = await readAll(openSource(path))
  assert.deepEqual(
    rows.map(({ day }) => day),
    ['+010000-01-01', '+5881580-07-11', '-5877641-06-23', '0000-12-31', null],
  )
  assert.deepEqual(
    rows.map(({ long }) => long),
    ['+010000-01-01', '+549551-05-28', '1969-12-31', '-146136543-09-08', null],
  )
  assert.deepEqual(
    rows.map(({ plain }) => plain),
    ['1970-01-01', '1970-01-02', '1970-01-03', '9999-12-31', '0001-01-01'],
  )
  assert.deepEqual(
    rows.map(({ at }) => at),
    [
      '+010000-01-01T00:00:00Z',
      '+146138514283-06-19T07:45:04Z',
      '-146138510344-07-14T16:14:56Z',
      '0000-12-31T23:59:59Z',
      null,
    ],
  )
  const { manifest } = await compileSnapshot({ path, folder: join(scratch(t), 'snapshot') })
  assert.deepEqual(
    manifest.columns.map(({ name, type }) => [name, type]),
    [
      ['day', 'text'],
      ['long', 'text'],
      ['plain', 'date'],
      ['at', 'text'],
    ],
  )
  const dates =
    'has values that are not dates or that a column of dates cannot hold, such as years beyond 9999'
  assert.deepEqual(manifest.notes, [
    `Column day ${dates}: it is published as text.`,
    `Column long ${dates}: it is published as text.`,
    'Column at has values that are not times or that a column of times cannot hold, such as nanoseconds or years beyond 9999: it is published as text.',
  ])
})
