import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { openSource } from '../index.ts'
import { readAll, scratch } from '../reading.test-kit.ts'

needs('python')

/** Writes a Feather file without compression, whose buffers are then found by their bytes. */
function feather(t: TestContext, column: string): string {
  const path = join(scratch(t), 'a.feather')
  const script = `
import sys, numpy, pyarrow as pa, pyarrow.feather as feather
feather.write_feather(pa.table({"a": ${column}}), sys.argv[1], compression="uncompressed")
`
  execFileSync(process.env['WAYLEAVE_TEST_PYTHON'] ?? 'python3', ['-c', script, path])
  return path
}

function int32(...numbers: number[]): Buffer {
  return Buffer.from(Int32Array.from(numbers).buffer)
}

/** Replaces the only occurrence of some bytes. */
function replace(path: string, from: Buffer, to: Buffer): void {
  const bytes = readFileSync(path)
  const at = bytes.indexOf(from)
  assert.ok(at > 0 && bytes.indexOf(from, at + 1) < 0, 'the bytes occur once')
  to.copy(bytes, at)
  writeFileSync(path, bytes)
}

const TEXTS = 'pa.array(["first", "second!", "third one"])'
const LONG = '"a text of more than twelve bytes"'

for (const [what, column, from, to, reason] of [
  [
    'an offset behind the bytes',
    TEXTS,
    int32(0, 5, 12, 21),
    int32(0, 5, 12, 999_999),
    /offsets lead to 999999/,
  ],
  ['an offset that decreases', TEXTS, int32(0, 5, 12, 21), int32(0, 12, 5, 21), /offset of row 2 is before/],
  ['a negative offset', TEXTS, int32(0, 5, 12, 21), int32(-7, 5, 12, 21), /an offset is negative/],
  [
    'an offset of 64 bits behind the bytes',
    'pa.array(["first", "second!"], pa.large_utf8())',
    int32(0, 0, 5, 0, 12, 0),
    int32(0, 0, 5, 0, 12, 1),
    /offsets lead to 4294967308/,
  ],
  [
    'an index behind the dictionary',
    'pa.DictionaryArray.from_arrays(pa.array([1, 0, 1, 0], pa.int32()), pa.array(["x", "y"]))',
    int32(1, 0, 1, 0),
    int32(1, 0, 7, 0),
    /row 3 refers to value 7 of a dictionary of 2/,
  ],
  [
    'a list behind its values',
    'pa.array([[1, 2], [3], [4, 5, 6]], pa.list_(pa.int64()))',
    int32(0, 2, 3, 6),
    int32(0, 2, 3, 600),
    /offsets lead to 600/,
  ],
  [
    'a view behind its buffer',
    `pa.array([${LONG}], pa.string_view())`,
    Buffer.concat([int32(32), Buffer.from('a te'), int32(0, 0)]),
    Buffer.concat([int32(32), Buffer.from('a te'), int32(0, 5000)]),
    /text of row 1 is outside of its buffer/,
  ],
  [
    'a view into a buffer that does not exist',
    `pa.array([${LONG}], pa.string_view())`,
    Buffer.concat([int32(32), Buffer.from('a te'), int32(0, 0)]),
    Buffer.concat([int32(32), Buffer.from('a te'), int32(9, 0)]),
    /text of row 1 is outside of its buffer/,
  ],
  [
    'a union with an unknown type',
    'pa.UnionArray.from_sparse(pa.array([0, 1, 0, 1, 0, 1, 0, 1], pa.int8()), [pa.array([1] * 8), pa.array(["z"] * 8)])',
    Buffer.from([0, 1, 0, 1, 0, 1, 0, 1]),
    Buffer.from([0, 1, 0, 9, 0, 1, 0, 1]),
    /row 4 has the unknown type 9/,
  ],
  [
    'a union that refers to a value that does not exist',
    'pa.UnionArray.from_dense(pa.array([0, 1, 0, 0], pa.int8()), pa.array([2, 0, 1, 2], pa.int32()), [pa.array([7, 8, 9]), pa.array(["z"])])',
    int32(2, 0, 1, 2),
    int32(2, 55, 1, 2),
    /row 2 refers to a value that does not exist/,
  ],
] as const) {
  test(`Arrow with ${what} is refused`, async (t) => {
    const path = feather(t, column)
    assert.ok((await readAll(openSource(path))).rows.length > 0)
    replace(path, from, to)
    await assert.rejects(readAll(openSource(path)), reason)
  })
}
