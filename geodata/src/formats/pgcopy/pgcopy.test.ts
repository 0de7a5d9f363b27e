import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { writeWkb } from '../../geometry/wkb.ts'
import { openSource } from '../index.ts'
import { readAll, scratch } from '../reading.test-kit.ts'
import { blockRows, isBlockStream } from '../source-blocks.ts'
import { END, int32, int64, row, START } from './pgcopy.test-kit.ts'
import { type PgcopyHeader, pgcopyHeader } from './pgcopy-header.ts'
import type { PgcopyBlock } from './pgcopy-parser.ts'

const TIMES: PgcopyHeader = {
  columns: [
    { name: 'day', kind: 'date' },
    { name: 'at', kind: 'timestamp' },
    { name: 'large', kind: 'int8' },
  ],
  crs: null,
  srid: null,
}

test('dates, times and large integers of PostgreSQL keep every digit', async (t) => {
  const path = join(scratch(t), 'rows.pgcopy')
  const rows = [
    row(int32(0), int64(0n), int64(2n ** 53n + 1n)),
    row(int32(-10_958), int64(-946_684_800_000_001n), int64(-1n)),
    row(int32(2 ** 31 - 1), int64(2n ** 63n - 1n), int64(-(2n ** 63n))),
    row(int32(-(2 ** 31)), int64(-(2n ** 63n)), null),
    row(int32(-746_542), int64(500_000n), int64(0n)),
    row(int32(2_921_939), int64(252_455_615_999_999_999n), int64(1n)),
    row(int32(2_921_940), int64(-63_082_281_600_000_000n), int64(1n)),
  ]
  writeFileSync(path, Buffer.concat([pgcopyHeader(TIMES), START, ...rows, END]))
  const read = await readAll(openSource(path))
  assert.deepEqual(
    read.rows.map(({ day, at, large }) => [day, at, large]),
    [
      ['2000-01-01', '2000-01-01T00:00:00Z', 2n ** 53n + 1n],
      ['1969-12-31', '1969-12-31T23:59:59.999999Z', -1],
      ['infinity', 'infinity', -(2n ** 63n)],
      ['-infinity', '-infinity', null],
      ['0045-01-15 BC', '2000-01-01T00:00:00.5Z', 0],
      ['9999-12-31', '9999-12-31T23:59:59.999999Z', 1],
      ['10000-01-01', '0001-01-01T00:00:00Z', 1],
    ],
  )
})

test('a table without geometry has all of its rows, although the first were looked at', async (t) => {
  const path = join(scratch(t), 'rows.pgcopy')
  const rows = Array.from({ length: 100_000 }, (_, i) => row(int32(i), int64(0n), int64(BigInt(i))))
  writeFileSync(path, Buffer.concat([pgcopyHeader(TIMES), START, ...rows, END]))
  const stream = await openSource(path)
  assert.ok(isBlockStream(stream))
  const parts: [first: number, rows: number][] = []
  for await (const block of stream.blocks()) parts.push([(block as PgcopyBlock).firstRow, blockRows(block)])
  assert.equal(parts[0]![0], 1)
  assert.ok(parts.length > 1)
  assert.equal(
    parts.reduce((sum, [, count]) => sum + count, 0),
    100_000,
  )
})

test('a file that is cut off, damaged or not of one SRID is refused', async (t) => {
  const folder = scratch(t)
  const read = async (...parts: Buffer[]) => {
    const path = join(folder, 'rows.pgcopy')
    writeFileSync(path, Buffer.concat(parts))
    return readAll(openSource(path))
  }
  const header = pgcopyHeader(TIMES)
  const whole = row(int32(0), int64(0n), int64(1n))
  await assert.rejects(read(header, START, whole), /ends too early: after 1 rows/)
  await assert.rejects(read(header, START, whole, whole.subarray(0, 9)), /ends too early: after 1 rows/)
  await assert.rejects(read(header, START, row(int32(0))), /a row has 1 fields/)
  await assert.rejects(read(header, whole), /not those of PostgreSQL/)
  await assert.rejects(read(header.subarray(0, 30)), /header cannot be read/)
  const spatial: PgcopyHeader = { columns: [{ name: 'g', kind: 'geometry' }], crs: 'EPSG:4326', srid: 4326 }
  const plain = writeWkb({ type: 'Point', coordinates: [1, 2] })
  const { unreadable } = await read(pgcopyHeader(spatial), START, row(plain), row(Buffer.from([1])), END)
  assert.deepEqual(
    unreadable.map(({ problem }) => problem.slice(0, 40)),
    ['Its geometry has the SRID 0, and others ', 'Its geometry has the SRID 0, and others '],
  )
})
