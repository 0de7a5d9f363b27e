import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import type { ColumnType } from '../feature.ts'
import { DamagedSnapshotError } from '../snapshot/damaged-snapshot-error.ts'
import { PlaneMemory } from './byte-planes.ts'
import type { StoredColumn } from './column-file.ts'
import { packCodes, packKeys, packTexts } from './dictionary.ts'
import { type PackedColumn, unpackColumn } from './unpack-column.ts'
import { UnpackInThread } from './unpack-in-thread.ts'

const ROWS = 5000
const SEGMENT_ROWS = 4096
const memory = new PlaneMemory(ROWS * 8, true)

/** The row i has the i-th value modulo the number of values; every eleventh row is null. */
async function packedColumn(
  type: ColumnType,
  form: StoredColumn['form'],
  distinct: number,
  width: number,
): Promise<PackedColumn> {
  const codes = Uint32Array.from({ length: ROWS }, (_, i) => (i % 11 === 0 ? 0 : (i % distinct) + 1))
  const numbers = Uint32Array.from({ length: distinct }, (_, i) => i)
  const dictionary =
    form === 'text'
      ? await packTexts(Array.from(numbers, (i) => `value ${String(i).padStart(5, '0')}`))
      : await packKeys(
          numbers.map((i) => 0x8000_0000 + i * 2 ** 12),
          numbers,
          memory,
        )
  const segments = await packCodes(codes, width, SEGMENT_ROWS, memory)
  const section = ({ packed, size }: { packed: Buffer; size: number }) => ({
    at: 0,
    bytes: packed.length,
    crc32: crc32(packed),
    size,
  })
  return {
    rows: ROWS,
    segmentRows: SEGMENT_ROWS,
    stored: {
      name: 'column',
      type,
      form,
      distinct,
      width,
      dictionary: section(dictionary),
      codes: segments.map(section),
    },
    // Copies in memory of their own, which can be moved.
    dictionary: Uint8Array.from(dictionary.packed),
    codes: segments.map(({ packed }) => Uint8Array.from(packed)),
  }
}

const COLUMNS: Parameters<typeof packedColumn>[] = [
  ['text', 'text', 7, 1],
  ['text', 'text', 4000, 2],
  ['number', 'number', 3000, 2],
  ['integer', 'integer', 300, 3],
  // Beyond 2^53.
  ['integer', 'integer', 2000, 4],
]

test('a column is the same from the thread as without it', async () => {
  const thread = new UnpackInThread({ maxInlineRows: 0 })
  const columns = await Promise.all(COLUMNS.map((column) => packedColumn(...column)))
  const expected = []
  for (const column of columns) expected.push(await unpackColumn(column))
  const unpacked = await Promise.all(columns.map((column) => thread.unpack(column)))
  assert.deepEqual(unpacked, expected)
  assert.ok(unpacked.some(({ values }) => values instanceof BigInt64Array))
  assert.equal(columns[0]!.codes[1]!.length, 0, 'the packed bytes were moved, not copied')
})

test('a column that was unpacked without lists gets the same order later', async () => {
  const thread = new UnpackInThread({ maxInlineRows: 0, maxListed: ROWS - 1 })
  for (const column of COLUMNS) {
    const packed = await packedColumn(...column)
    const expected = await unpackColumn(packed)
    const { codes, starts, order, edges } = await thread.unpack(packed)
    assert.deepEqual([order, edges.length], [null, 0])
    assert.deepEqual({ codes, starts }, { codes: expected.codes, starts: expected.starts })
    assert.deepEqual(await thread.order(codes!, starts), expected.order)
  }
})

test('damage that the thread finds is an error of the same class, and the thread goes on', async () => {
  const thread = new UnpackInThread({ maxInlineRows: 0 })
  const [damaged, intact] = [await packedColumn(...COLUMNS[0]!), await packedColumn(...COLUMNS[0]!)]
  damaged.codes[1]![5]! ^= 1
  const results = await Promise.allSettled([thread.unpack(damaged), thread.unpack(intact)])
  assert.ok(results[0]!.status === 'rejected' && results[0].reason instanceof DamagedSnapshotError)
  assert.equal(results[1]!.status, 'fulfilled')
})

test('the thread ends when it is idle, and is started again; small columns do not need it', async () => {
  const thread = new UnpackInThread({ maxInlineRows: ROWS - 1, idleMs: 1 })
  for (let round = 0; round < 2; round++) {
    const parts = await thread.unpack(await packedColumn(...COLUMNS[1]!))
    assert.equal(parts.order!.length, ROWS)
    while (thread.isRunning) await delay(5)
  }
  thread.expect(ROWS)
  assert.equal(thread.isRunning, true)
  while (thread.isRunning) await delay(5)
  const inline = new UnpackInThread({ maxInlineRows: ROWS })
  inline.expect(ROWS)
  await inline.unpack(await packedColumn(...COLUMNS[1]!))
  assert.equal(inline.isRunning, false)
})
