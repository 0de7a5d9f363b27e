import assert from 'node:assert/strict'
import { type FileHandle, mkdir, open, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { lacks } from '../../../scripts/test-run/needs.ts'
import { collection, compileText, feature, withStoredLists } from '../compile/compile-fixture.ts'
import { openDuckDb } from '../open-duckdb.ts'
import { PackCache } from '../pack/pack-cache.ts'
import { DamagedSnapshotError } from '../snapshot/damaged-snapshot-error.ts'
import { type Manifest, SNAPSHOT_FILES } from '../snapshot/manifest.ts'
import { openSnapshot } from '../snapshot/open.ts'
import { readManifest } from '../snapshot/read-manifest.ts'
import { verifySnapshot } from '../snapshot/verify.ts'
import { ColumnCache } from './column-cache.ts'
import { checkDirectory, type StoredColumn } from './column-file.ts'
import { ColumnKeys } from './column-keys.ts'
import { readColumnDirectory, readColumnLists, readColumnParts } from './column-reader.ts'
import type { ColumnParts } from './compiled-column.ts'
import { Ranking } from './rank-values.ts'
import { writeColumns } from './write-columns.ts'
import { orderedParts } from './write-lists.ts'

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
    assert.equal(column.codes.length, ROWS)
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
      const rows = column.order!.subarray(column.starts[code], column.starts[code + 1])
      assert.ok(rows.every((row, i) => column.codes[row] === code && (i === 0 || row > rows[i - 1]!)))
      listed.push(...rows)
    }
    assert.equal(listed.length, ROWS)
    for (let block = 0; block * 4096 < ROWS; block++) {
      const codes = [...column.codes.subarray(block * 4096, (block + 1) * 4096)]
      assert.equal(column.blockMin[block], Math.min(...codes))
      assert.equal(column.blockMax[block], Math.max(...codes))
      assert.equal(column.blockCounts === null, column.codeCount > 256, name)
      const counts = column.blockCounts?.subarray(block * column.codeCount, (block + 1) * column.codeCount)
      if (counts)
        for (let code = 0; code < column.codeCount; code++)
          assert.equal(counts[code], codes.filter((one) => one === code).length, `${name} ${block} ${code}`)
    }
    for (const [i, edge] of column.edges.entries()) {
      const bits = column.rowsBelow(i)
      const isBelow = (row: number) => ((bits[row >>> 5]! >>> (row & 31)) & 1) === 1
      assert.ok(column.codes.every((code, row) => isBelow(row) === code < edge))
    }
    const startsOfEdges = [0, ...[...column.edges].map((edge) => column.starts[edge]!), ROWS]
    const isNear = (start: number) => startsOfEdges.some((of) => Math.abs(of - start) <= ROWS / 32)
    assert.ok(column.starts.every(isNear), name)
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

test('results derived from columns share the memory limit of columns, and the least recently used is evicted first', async () => {
  const cache = new ColumnCache(300_000)
  const [first, second] = [new Uint8Array(100_000), new Uint8Array(100_000)]
  cache.keep('first', first, first.byteLength)
  cache.keep('second', second, second.byteLength)
  await cache.load(snapshot, 'flag')
  assert.equal(cache.derived('first'), first)
  await cache.load(snapshot, 'integer')
  await cache.load(snapshot, 'number')
  assert.ok(cache.bytes <= 300_000)
  assert.equal(cache.derived('second'), undefined)
  cache.keep('large', first, 400_000)
  assert.equal(cache.derived('large'), undefined)
  const { bytes } = cache
  cache.keep('again', first, 1000)
  cache.keep('again', second, 1000)
  assert.equal(cache.derived('again'), second)
  assert.ok(cache.bytes - bytes < 1100)
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
    // The first bytes are those of a column whose values have a fixed size.
    const name = at === 10 ? 'number' : 'text'
    await assert.rejects(new ColumnCache(1 << 26).load(again, name), DamagedSnapshotError)
    assert.equal((await verifySnapshot(compiled.folder)).length, 1)
    await again.close()
  }
  await writeFile(path, original.subarray(0, -1))
  await assert.rejects(new ColumnCache(1 << 26).load(snapshot, 'text'), DamagedSnapshotError)
  await writeFile(path, original)
  assert.equal((await stat(path)).size, original.length)
  assert.ok(await new ColumnCache(1 << 26).load(snapshot, 'text'))
})

test('a directory cannot ask for more memory than its rows need, or for bytes outside of its file', async () => {
  const directory = (await readColumnDirectory(compiled.folder, compiled.manifest))!
  const { bytes } = compiled.manifest.files[SNAPSHOT_FILES.columns]!
  const [column, ...others] = directory.columns
  const { dictionary, codes } = column!
  checkDirectory(directory, bytes)
  for (const wrong of [
    { distinct: directory.rows + 1 },
    { width: 5 },
    { dictionary: { ...dictionary, size: 2 ** 40 } },
    { dictionary: { ...dictionary, bytes: bytes + 1 } },
    { codes: [{ ...codes[0]!, at: -1 }] },
    { codes: [...codes, ...codes] },
    { lists: { counts: dictionary, orderAt: bytes } },
  ]) {
    const columns = [{ ...column!, ...wrong }, ...others]
    assert.throws(
      () => checkDirectory({ ...directory, columns }, bytes),
      DamagedSnapshotError,
      JSON.stringify(wrong),
    )
  }
})

test('stored posting lists are read by parts without the codes, and a damaged part is not used', async () => {
  const folder = await withStoredLists(compiled.folder, compiled.manifest)
  const manifest = await readManifest(folder)
  const parts = new PackCache(1 << 24)
  const opened = await openSnapshot(folder, parts)
  const expected = (await new ColumnCache(1 << 26).load(snapshot, 'integer'))!
  const cache = new ColumnCache(1 << 26, { maxListedRows: 10 })
  assert.equal(cache.peekLists(opened, 'integer'), undefined)
  const column = (await cache.loadLists(opened, 'integer'))!
  assert.equal(cache.peekLists(opened, 'integer'), column)
  assert.equal(cache.peek(opened, 'integer'), undefined)
  assert.throws(() => column.codes, /not loaded/)
  assert.deepEqual([column.values, column.starts], [expected.values, expected.starts])
  assert.equal(column.sorted!.range(0, 1), null, 'nothing of the order was read')
  // A part has 8,192 rows.
  for (const [from, to] of [
    [8191, 8193],
    [8192, 8192],
    [8192, ROWS],
    [0, ROWS],
  ] as const) {
    await column.sorted!.loadRange(from, to)
    assert.deepEqual(column.sorted!.range(from, to), expected.order!.slice(from, to))
  }
  const large = (await cache.load(opened, 'integer'))!
  assert.deepEqual([large.order, large.hasStoredOrder, large.codes], [null, true, expected.codes])
  // A large column is loaded segment by segment.
  for (const { name } of (await readColumnDirectory(folder, manifest))!.columns) {
    const [whole, bySegment] = [
      (await new ColumnCache(1 << 26).load(snapshot, name))!,
      (await cache.load(opened, name))!,
    ]
    for (const part of ['codes', 'starts', 'values', 'blockMin', 'blockMax', 'blockCounts'] as const)
      assert.deepEqual(bySegment[part], whole[part], `${part} of ${name}`)
  }
  await opened.close()
  assert.equal(parts.bytes, 0)
  const withoutCache = await openSnapshot(folder)
  assert.equal(await cache.loadLists(withoutCache, 'integer'), null)
  await withoutCache.close()
  assert.equal(await cache.loadLists(snapshot, 'integer'), null, 'small columns have none')

  const stored = (await readColumnDirectory(folder, manifest))!.columns.find(
    ({ name }) => name === 'integer',
  )!
  const path = join(folder, SNAPSHOT_FILES.columns)
  const bytes = await readFile(path)
  bytes[stored.lists!.orderAt + 5]! ^= 1
  await writeFile(path, bytes)
  const damaged = await openSnapshot(folder, parts)
  const lists = (await new ColumnCache(1 << 26).loadLists(damaged, 'integer'))!
  await assert.rejects(lists.sorted!.loadRange(0, 1), DamagedSnapshotError)
  const [first, second] = stored.codes
  assert.ok(first && second)
  for (const section of [second, first]) {
    bytes[section.at + 9]! ^= 1
    await writeFile(path, bytes)
    const again = new ColumnCache(1 << 26, { maxListedRows: 10 })
    await assert.rejects(again.load(damaged, 'integer'), DamagedSnapshotError)
    await assert.rejects(again.load(damaged, 'integer'), DamagedSnapshotError, 'a failed load is not kept')
  }
  await damaged.close()
})

test('columns of several segments, and those that the database ranks, are the same as others', {
  skip: lacks('time'),
}, async (t) => {
  const database = await openDuckDb({ threads: 1, memoryLimit: '256MB', folders: [compiled.folder] })
  t.after(() => database.close())
  const rowsPath = join(compiled.folder, SNAPSHOT_FILES.rows)
  const columns = compiled.manifest.columns.map((column) => ({ ...column, isWide: false }))
  const write = async (rows: number, options: Parameters<typeof writeColumns>[4]) => {
    const folder = join(compiled.folder, `segments-${rows}-${JSON.stringify(options).replace(/\W+/g, '-')}`)
    await mkdir(folder)
    const path = join(folder, SNAPSHOT_FILES.columns)
    const from = `(SELECT * FROM read_parquet('${rowsPath}') LIMIT ${rows})`
    const { instance } = database
    const statistics = await writeColumns(path, { instance, from, rows }, columns, undefined, options)
    const files = { [SNAPSHOT_FILES.columns]: { bytes: (await stat(path)).size, sha256: '' } }
    const directory = (await readColumnDirectory(folder, { rows, files } as unknown as Manifest))!
    const parts = new Map<string, ColumnParts>()
    for (const stored of directory.columns)
      parts.set(stored.name, await readColumnParts(folder, directory, stored))
    return { path, folder, statistics, parts, stored: directory.columns }
  }
  const segmentsOf = ({ stored }: Awaited<ReturnType<typeof write>>) => stored[0]!.codes.length
  for (const rows of [0, 1, 4095, 4096, 4097, 8192, 8193]) {
    const whole = await write(rows, {})
    assert.equal(segmentsOf(whole), 1)
    assert.equal(whole.stored[0]!.lists, undefined)
    const inSegments = await write(rows, { segmentRows: 4096 })
    const byDatabase = await write(rows, { segmentRows: 4096, maxRanked: -1 })
    const withLists = [
      await write(rows, { segmentRows: 4096, maxListed: -1 }),
      await write(rows, { segmentRows: 4096, maxListed: -1, maxRanked: -1 }),
    ]
    for (const written of [inSegments, byDatabase, ...withLists]) {
      assert.equal(segmentsOf(written), Math.max(1, Math.ceil(rows / 4096)))
      assert.deepEqual(written.statistics, whole.statistics)
      for (const [name, column] of whole.parts)
        assert.deepEqual(written.parts.get(name), column, `${name} of ${rows}`)
    }
    for (const { path, folder, stored } of withLists) {
      const handle = await open(path)
      for (const column of stored) await requireLists(handle, folder, column, whole.parts.get(column.name)!)
      await handle.close()
    }
  }
})

/** The posting lists in the file are those that are made when a column is loaded. */
async function requireLists(handle: FileHandle, folder: string, stored: StoredColumn, column: ColumnParts) {
  const lists = stored.lists!
  const { values, starts, codes } = await readColumnLists(folder, { ...stored, lists })
  assert.deepEqual({ values, starts, codes }, { values: column.values, starts: column.starts, codes: null })
  const order = new Uint32Array(column.order!.length)
  await handle.read(new Uint8Array(order.buffer), 0, order.byteLength, lists.orderAt)
  assert.deepEqual(order, column.order)
  const counts = column.starts.slice(1).map((start, code) => start - column.starts[code]!)
  const written = { handle, sections: stored.codes, width: stored.width, counts }
  const inPasses: number[] = []
  for await (const part of orderedParts(written, 1000)) inPasses.push(...part)
  assert.deepEqual(inPasses, [...order])
}

test('a large column is loaded without its order, gets it when it is needed, and is bounded with it', async () => {
  const cache = new ColumnCache(300_000, { maxListedRows: 10 })
  const column = (await cache.load(snapshot, 'day'))!
  assert.equal(column.order, null)
  const { bytes } = cache
  const [ordered, again] = await Promise.all([
    cache.loadOrder(snapshot, 'day'),
    cache.loadOrder(snapshot, 'day'),
  ])
  assert.ok(ordered === column && again === column)
  assert.equal(cache.bytes, bytes + ROWS * 4)
  const expected = (await new ColumnCache(1 << 26).load(snapshot, 'day'))!
  assert.deepEqual(column.order, expected.order)
  assert.equal(await new ColumnCache(bytes + 1000, { maxListedRows: 10 }).loadOrder(snapshot, 'day'), null)
})

test('a column whose texts do not fit into the memory of the database is left out, and the others are compiled', async (t) => {
  const database = await openDuckDb({ threads: 1, memoryLimit: '64MB' })
  t.after(() => database.close())
  // 30,000 texts of 4 KB.
  const from = '(SELECT repeat(md5(i::VARCHAR), 128) AS long, i AS n FROM range(30000) r(i))'
  const path = join(compiled.folder, 'other.columns')
  const source = { instance: database.instance, from, rows: 30_000 }
  const { long, n } = await writeColumns(path, source, [
    { name: 'long', type: 'text', nullable: false, isWide: false },
    { name: 'n', type: 'integer', nullable: false, isWide: false },
  ])
  assert.deepEqual([long!.isExact, n!.isExact, n!.distinct], [false, true, 30_000])
})

test('ranks follow the keys, whichever of their digits differ', () => {
  const words = [0, 1, 2 ** 11, 2 ** 22, 2 ** 31, 2 ** 32 - 1]
  const pairs = words.flatMap((high) => words.map((low): [number, number] => [high, low])).reverse()
  const rows = [...pairs, ...pairs.slice(3, 9)]
  const keys = new ColumnKeys(rows.length)
  keys.clear(true)
  const flags = Uint8Array.from(rows, (_, i) => (i === 4 ? 1 : 0))
  // The order of keys is that of unsigned integers, so the sign bit is the other way round.
  keys.addIntegers(Uint32Array.from(rows.flatMap(([high, low]) => [low, high ^ 0x8000_0000])), flags)
  const ranked = new Ranking(rows.length).rank(keys)
  assert.equal(ranked.high.length, pairs.length)
  assert.deepEqual([...ranked.codes.subarray(0, 4)], [36, 35, 34, 33])
  assert.equal(ranked.codes[4], 0)
  assert.equal(ranked.counts[0], 1)
  assert.equal(
    ranked.counts.reduce((sum, count) => sum + count, 0),
    rows.length,
  )
})

/** The distinct values of a ranked column, the code of each row, and the counts. */
function rankIntegers(ranking: Ranking, keys: ColumnKeys, integers: (bigint | null)[]) {
  const words = new Uint32Array(BigInt64Array.from(integers, (integer) => integer ?? 0n).buffer)
  const flags = Uint8Array.from(integers, (integer) => (integer === null ? 1 : 0))
  const half = (integers.length >> 1) + 1
  keys.clear(true)
  keys.addIntegers(words.subarray(0, half * 2), flags.subarray(0, half))
  keys.addIntegers(words.subarray(half * 2), flags.subarray(half))
  const { codes, high, low, counts } = ranking.rank(keys)
  const values = Array.from(high, (word, i) =>
    BigInt.asIntN(64, (BigInt(word ^ 0x8000_0000) << 32n) + BigInt(low[i]!)),
  )
  return { codes: [...codes], values, counts: [...counts] }
}

test('integers have the ranks of their values, whether counted or sorted, also when arrays are used again', () => {
  const count = 4000
  const ranking = new Ranking(count)
  const keys = new ColumnKeys(count)
  const offsets = Array.from({ length: count }, (_, i) =>
    i % 7 === 3 ? null : (Math.imul(i, 2654435761) >>> 0) % 9000,
  )
  const limit = 2n ** 63n
  // Ranges across the borders of the low word, of zero and of exact doubles, the ends of 64 bits, and wide ones.
  const columns = [
    { from: 5n * 2n ** 32n - 4000n, step: 1n },
    { from: -4000n, step: 1n },
    { from: -(2n ** 32n) - 3n, step: 1n },
    { from: 2n ** 53n - 4000n, step: 1n },
    { from: -limit, step: 1n },
    { from: limit - 9000n, step: 1n },
    { from: -4500n * 2n ** 40n, step: 2n ** 40n },
    { from: 0n, step: 1n },
  ]
  for (const { from, step } of columns) {
    const integers = offsets.map((offset) => (offset === null ? null : from + BigInt(offset) * step))
    const present = integers.filter((integer) => integer !== null)
    const distinct = [...new Set(present)].sort((a, b) => (a < b ? -1 : 1))
    const codes = new Map(distinct.map((integer, i) => [integer, i + 1]))
    const ranked = rankIntegers(ranking, keys, integers)
    assert.deepEqual(ranked.values, distinct, String(from))
    assert.deepEqual(
      ranked.codes,
      integers.map((integer) => (integer === null ? 0 : codes.get(integer))),
    )
    const counts = new Array<number>(distinct.length + 1).fill(0)
    for (const code of ranked.codes) counts[code]!++
    assert.deepEqual(ranked.counts, counts)
  }
  const nothing = rankIntegers(ranking, keys, new Array<null>(count).fill(null))
  assert.deepEqual(
    [nothing.values, nothing.counts, nothing.codes.every((code) => code === 0)],
    [[], [count], true],
  )
})
