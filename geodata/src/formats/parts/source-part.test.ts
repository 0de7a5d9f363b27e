import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { compileSnapshot } from '../../compile/compile.ts'
import { query } from '../../compile/compile-fixture.ts'
import { SourceError } from '../../source-error.ts'
import { openSource } from '../index.ts'
import { readAll, scratch, zipped } from '../reading.test-kit.ts'
import { writePart } from './write-part.test-kit.ts'

/** A folder partitioned as Spark does it, with the notes that it leaves. */
async function partitioned(t: TestContext): Promise<string> {
  const folder = join(scratch(t), 'places')
  for (const [i, name] of [
    'year=2023/kind=a%2Fb',
    'year=2023/kind=c',
    'year=2024/kind=__HIVE_DEFAULT_PARTITION__',
  ].entries()) {
    mkdirSync(join(folder, name), { recursive: true })
    await writePart(join(folder, name, 'part-0.parquet'), i * 10, i * 10 + 4)
  }
  writeFileSync(join(folder, '_SUCCESS'), '')
  writeFileSync(join(folder, '.part-0.parquet.crc'), 'x')
  writeFileSync(join(folder, '_metadata.parquet'), 'not Parquet')
  symlinkSync(join(folder, 'year=2023'), join(folder, 'year=2030'))
  return folder
}

const KINDS = [...'aaaaa'.split('').map(() => 'a/b'), ...'ccccc'.split(''), ...Array(5).fill(null)]
const NUMBERS = [0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 20, 21, 22, 23, 24]

test('the keys of a partitioned folder become columns, and the notes of other programs are left out', async (t) => {
  const { rows, stream, features } = await readAll(openSource(await partitioned(t)))
  assert.deepEqual(
    stream.columns.map(({ name }) => name),
    ['n', 'half', 'year', 'kind'],
  )
  assert.deepEqual(
    rows.map(({ kind }) => kind),
    KINDS,
  )
  assert.deepEqual(rows.map(({ n }) => n).map(Number), NUMBERS)
  assert.deepEqual(
    features.map(({ row }) => row),
    NUMBERS.map((_, i) => i + 1),
  )
})

test('a folder, its files by name and a zip of it become the same snapshot', async (t) => {
  const folder = await partitioned(t)
  const names = ['year=2023/kind=a%2Fb', 'year=2023/kind=c', 'year=2024/kind=__HIVE_DEFAULT_PARTITION__'].map(
    (name) => `${name}/part-0.parquet`,
  )
  const zip = await zipped(
    t,
    'places.zip',
    Object.fromEntries(names.map((name) => [`places/${name}`, readFileSync(join(folder, name))])),
  )
  const parts = names.toReversed().map((name) => ({ path: join(folder, name), name, file: name }))
  const packs: string[] = []
  for (const [i, input] of [{ path: folder }, { path: parts[0]!.path, parts }, { path: zip }].entries()) {
    const output = join(scratch(t), String(i))
    const { manifest } = await compileSnapshot({ ...input, folder: output, threads: 1 })
    assert.deepEqual([manifest.rows, manifest.located, manifest.source.format], [15, 15, 'parquet'])
    assert.deepEqual(
      manifest.columns.map(({ name, type }) => [name, type]),
      [
        ['n', 'integer'],
        ['half', 'number'],
        ['year', 'integer'],
        ['kind', 'text'],
      ],
    )
    packs.push(readFileSync(join(output, 'features.pack'), 'utf8'))
  }
  assert.match(packs[0]!, /"year":2023,"kind":"a\/b"/)
  assert.deepEqual([packs[1], packs[2]], [packs[0], packs[0]])
})

test('folders above a file and above a snapshot are not columns', async (t) => {
  const place = join(scratch(t), 'year=1', 'n=7')
  mkdirSync(place, { recursive: true })
  await writePart(join(place, 'a.parquet'), 1, 3)
  const output = join(place, 'snapshot')
  const { manifest } = await compileSnapshot({ path: join(place, 'a.parquet'), folder: output, threads: 1 })
  assert.deepEqual(
    manifest.columns.map(({ name }) => name),
    ['n', 'half'],
  )
  assert.equal(manifest.statistics!['n']!.distinct, 3)
  assert.match(readFileSync(join(output, 'sample.json'), 'utf8'), /"n":[123],/)
})

test('large parts are read in threads, in any order of their columns', { skip: lacks('time') }, async (t) => {
  const folder = join(scratch(t), 'parts')
  mkdirSync(folder)
  // Few rows that do not compress: smaller sources are read without threads.
  const text = `list_aggregate([md5((n * 64 + i)::VARCHAR) FOR i IN range(64)], 'string_agg', '') AS text`
  await writePart(join(folder, 'a.parquet'), 1, 12_000, `n, ${text}`)
  await writePart(join(folder, 'b.parquet'), 12_001, 20_000, `${text}, n`)
  assert.ok(statSync(join(folder, 'a.parquet')).size > 1 << 24)
  const output = join(scratch(t), 'snapshot')
  const { manifest } = await compileSnapshot({ path: folder, folder: output, threads: 2, tiles: false })
  assert.equal(manifest.rows, 20_000)
  const [counts] = await query(
    `SELECT count(*) FILTER (id = n), count(*) FILTER (starts_with(text, md5((n * 64)::VARCHAR))) FROM (FROM '${output}/rows.parquet' POSITIONAL JOIN (SELECT id FROM '${output}/ids.parquet'))`,
  )
  assert.deepEqual(counts!.map(Number), [20_000, 20_000])
})

test('files that do not agree are refused by name before any row is read', async (t) => {
  const cases: [values: string, message: RegExp][] = [
    ['n', /parts\/b\.parquet has no column half, which parts\/a\.parquet has/],
    ['n, n / 2 AS half, 1 AS more', /parts\/b\.parquet has a column more, which parts\/a\.parquet does not/],
    ["n, 'x' AS half", /parts\/b\.parquet has half as text, and parts\/a\.parquet has it as number/],
  ]
  const folder = join(scratch(t), 'parts')
  mkdirSync(folder)
  await writePart(join(folder, 'a.parquet'), 1, 3)
  const refused = (path: string, message: RegExp) =>
    assert.rejects(
      openSource(path),
      (error: Error) => error instanceof SourceError && message.test(error.message),
      String(message),
    )
  for (const [values, message] of cases) {
    await writePart(join(folder, 'b.parquet'), 4, 6, values)
    await refused(folder, message)
  }
  await query(`COPY (SELECT 1 AS n, 0.5::DOUBLE AS half) TO '${join(folder, 'b.parquet')}' (FORMAT parquet)`)
  await refused(folder, /parts\/b\.parquet has no geometry, and parts\/a\.parquet has one/)
  writeFileSync(join(folder, 'b.parquet'), 'nonsense')
  await refused(folder, /parts\/b\.parquet ends too early/)
  mkdirSync(join(folder, 'year=1'))
  cpSync(join(folder, 'a.parquet'), join(folder, 'year=1', 'c.parquet'))
  await refused(folder, /parts\/year=1\/c\.parquet is in other folders of the form key=value/)
  await refused(scratch(t), /is a folder without Parquet files/)
})
