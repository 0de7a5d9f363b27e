import assert from 'node:assert/strict'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { collection, compileText, feature } from '../compile/compile-fixture.ts'
import { DamagedSnapshotError } from '../snapshot/damaged-snapshot-error.ts'
import { SNAPSHOT_FILES } from '../snapshot/manifest.ts'
import { openSnapshot } from '../snapshot/open.ts'
import { verifySnapshot } from '../snapshot/verify.ts'
import { ColumnCache } from './column-cache.ts'
import { rankValues } from './rank-values.ts'

const ROWS = 9000
const TEXTS = ['', 'a', 'B', '\0', '\u0001', 'é', '😀', '\uffee', null]
/** Integers that are beyond 2^53, and beyond 64 bits. */
const TIMES = ['0001-01-01T00:00:00Z', '2020-02-29T12:30:00.000001Z', '9999-12-31T23:59:59.999999Z', null]

function propertiesOf(i: number) {
  const mixed = Math.imul(i + 1, 2654435761) >>> 0
  return {
    text: TEXTS[mixed % TEXTS.length]!,
    unique: `name ${mixed} ${i}`,
    number: mixed % 10 === 0 ? null : [(mixed % 1000) / 8 - 60, -0.0, 5e-324, -1e300][mixed % 4]!,
    integer: i % 2 === 0 ? i - 4500 : null,
    flag: [true, false, null][mixed % 3]!,
    day: mixed % 5 === 0 ? null : `20${10 + (mixed % 80)}-03-0${1 + (mixed % 9)}`,
    time: TIMES[mixed % TIMES.length]!,
    nothing: i === 0 ? '' : null,
    nested: { i },
  }
}

const features = Array.from({ length: ROWS }, (_, i) =>
  feature(propertiesOf(i), { type: 'Point', coordinates: [((i * 7) % 360) - 180, ((i * 13) % 170) - 85] }),
)
const compiled = await compileText(collection(features))
const snapshot = await openSnapshot(compiled.folder)
const NAMES = ['text', 'number', 'integer', 'flag', 'day', 'time', 'nothing', 'unique']

test('every value of every compiled column is the one of its feature', async () => {
  const cache = new ColumnCache(1 << 26)
  for (const name of NAMES) {
    assert.equal(cache.peek(snapshot, name), undefined)
    const column = (await cache.load(snapshot, name))!
    assert.equal(cache.peek(snapshot, name), column)
    assert.equal(column.rows, ROWS)
    for (const [row, { properties }] of compiled.features.entries()) {
      const published = properties[name] === 0 ? 0 : properties[name]
      assert.equal(column.value(column.codes[row]!), published, `${name} of row ${row}`)
    }
  }
  assert.equal(await cache.load(snapshot, 'nested'), null)
  assert.equal(cache.peek(snapshot, 'nested'), null)
  assert.equal(await cache.load(snapshot, 'unknown'), null)
})

test('codes follow the order of values, and posting lists and blocks follow the codes', async () => {
  const cache = new ColumnCache(1 << 26)
  for (const name of NAMES) {
    const column = (await cache.load(snapshot, name))!
    for (let code = 2; code < column.codeCount; code++) {
      const [before, value] = [column.value(code - 1)!, column.value(code)!]
      const isAscending =
        typeof value === 'string'
          ? Buffer.compare(Buffer.from(before as string), Buffer.from(value)) < 0
          : before < value
      assert.ok(isAscending, `${name}: ${String(before)} before ${String(value)}`)
    }
    const listed: number[] = []
    for (let code = 0; code < column.codeCount; code++) {
      const rows = column.order.subarray(column.starts[code], column.starts[code + 1])
      assert.ok(rows.every((row, i) => column.codes[row] === code && (i === 0 || row > rows[i - 1]!)))
      listed.push(...rows)
    }
    assert.equal(listed.length, ROWS)
    for (let block = 0; block * 4096 < ROWS; block++) {
      const codes = [...column.codes.subarray(block * 4096, (block + 1) * 4096)]
      assert.equal(column.blockMin[block], Math.min(...codes))
      assert.equal(column.blockMax[block], Math.max(...codes))
    }
  }
})

test('statistics are those of the values', () => {
  const { statistics } = compiled.manifest
  const integers = compiled.features.flatMap(({ properties }) =>
    properties['integer'] === null ? [] : [properties['integer'] as number],
  )
  const { integer, flag, unique, text, nothing } = statistics!
  assert.deepEqual(
    [integer!.nulls, integer!.distinct, integer!.min, integer!.max],
    [ROWS / 2, ROWS / 2, -4500, 4498],
  )
  assert.equal(integer!.mean, integers.reduce((sum, value) => sum + value, 0) / integers.length)
  assert.equal(
    integer!.histogram!.reduce((sum, count) => sum + count, 0),
    integers.length,
  )
  assert.equal(integer!.frequent, undefined)
  const trues = compiled.features.filter(({ properties }) => properties['flag'] === true).length
  assert.equal(flag!.frequent!.find(({ value }) => value === true)!.count, trues)
  assert.deepEqual([text!.distinct, text!.min, text!.isExact], [8, '', true])
  assert.deepEqual([unique!.distinct, unique!.isExact], [ROWS, true])
  assert.deepEqual([nothing!.nulls, nothing!.distinct], [ROWS - 1, 1])
  assert.equal(statistics!['nested'], undefined)
})

test('a column that does not fit into the cache is left to the database, and old ones make room', async () => {
  assert.equal(await new ColumnCache(1000).load(snapshot, 'integer'), null)
  const one = new ColumnCache(300_000)
  const first = await one.load(snapshot, 'flag')
  assert.ok(first)
  await one.load(snapshot, 'integer')
  await one.load(snapshot, 'number')
  await one.load(snapshot, 'day')
  assert.ok(one.bytes <= 300_000)
  assert.ok(one.peek(snapshot, 'flag') === undefined)
  assert.notEqual(await one.load(snapshot, 'flag'), null)
})

test('damage of the file is found when a column is loaded, and by the verification', async () => {
  const path = join(compiled.folder, SNAPSHOT_FILES.columns)
  const original = await readFile(path)
  assert.deepEqual(await verifySnapshot(compiled.folder), [])
  for (const at of [10, original.length - 30, original.length - 3]) {
    const changed = Buffer.from(original)
    changed[at]! ^= 1
    await writeFile(path, changed)
    const again = await openSnapshot(compiled.folder)
    await assert.rejects(new ColumnCache(1 << 26).load(again, 'text'), DamagedSnapshotError)
    assert.equal((await verifySnapshot(compiled.folder)).length, 1)
    await again.close()
  }
  await writeFile(path, original.subarray(0, -1))
  await assert.rejects(new ColumnCache(1 << 26).load(snapshot, 'text'), DamagedSnapshotError)
  await writeFile(path, original)
  assert.equal((await stat(path)).size, original.length)
  assert.ok(await new ColumnCache(1 << 26).load(snapshot, 'text'))
})

test('ranks follow the keys, whichever of their digits differ', () => {
  const keys = [0, 1, 2 ** 11, 2 ** 22, 2 ** 31, 2 ** 32 - 1]
  const pairs = keys.flatMap((high) => keys.map((low): [number, number] => [high, low])).reverse()
  const rows = [...pairs, ...pairs.slice(3, 9)]
  const isNull = Uint8Array.from(rows, (_, i) => (i === 4 ? 1 : 0))
  const high = Uint32Array.from(rows, ([word]) => word)
  const low = Uint32Array.from(rows, ([, word]) => word)
  const ranked = rankValues({ high, low }, isNull)
  assert.equal(ranked.high.length, pairs.length)
  assert.deepEqual([...ranked.codes.subarray(0, 4)], [36, 35, 34, 33])
  assert.equal(ranked.codes[4], 0)
  assert.equal(ranked.counts[0], 1)
  assert.equal(
    ranked.counts.reduce((sum, count) => sum + count, 0),
    rows.length,
  )
})

test('keys of a small range, across the border of their low word, have the same ranks as sorted ones', () => {
  const offsets = Array.from({ length: 4000 }, (_, i) => (Math.imul(i, 2654435761) >>> 0) % 9000)
  const [high, low] = [new Uint32Array(4000), new Uint32Array(4000)]
  offsets.forEach((offset, i) => {
    const key = 5 * 2 ** 32 - 4000 + offset
    high[i] = Math.floor(key / 2 ** 32)
    low[i] = key % 2 ** 32
  })
  const isNull = Uint8Array.from(offsets, (offset) => (offset % 7 === 0 ? 1 : 0))
  const counted = rankValues({ high, low }, isNull)
  const distinct = [...new Set(offsets.filter((offset) => offset % 7 !== 0))].sort((a, b) => a - b)
  assert.deepEqual(
    [...counted.codes],
    offsets.map((offset) => (offset % 7 === 0 ? 0 : distinct.indexOf(offset) + 1)),
  )
  assert.deepEqual(
    Array.from(counted.high, (word, i) => word * 2 ** 32 + counted.low[i]! - 5 * 2 ** 32 + 4000),
    distinct,
  )
  assert.equal(counted.counts[0], isNull.filter((flag) => flag === 1).length)
})
