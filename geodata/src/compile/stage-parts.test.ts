import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { needs } from '../../../scripts/test-run/needs.ts'
import { Sandbox } from '../sandbox/sandbox.ts'
import { acceptPlan } from './accept-output.ts'
import { compileSnapshot } from './compile.ts'
import { query, scratch } from './compile-fixture.ts'
import {
  compileInChildProcess,
  planPartsInChildProcess,
  stagePartInChildProcess,
} from './compile-in-child-process.ts'
import type { CompileOptions } from './compile-options.ts'
import { InvalidSourceError } from './invalid-source-error.ts'
import { printPlan, readPlan } from './stage/stage-plan.ts'
import { planParts, stagePart } from './stage-parts.ts'

needs('time')

const FILES = 6
const ROWS = 6000
let serial = 0

/** Rows with points on a spiral, some values missing, and numbers of which only the last file has fractions. */
async function writeRows(path: string, first: number, last: number): Promise<void> {
  await query(
    `COPY (SELECT n, 'place ' || (n % 97) AS name, CASE WHEN n % 5 = 0 THEN NULL ELSE n / 8 END AS eighth,
      DATE '2020-01-01' + (n % 900)::INTEGER AS day, {'a': n, 'b': [n % 3]} AS nested,
      (n * 137.508) % 360 - 180 AS longitude, (n * 61.803) % 160 - 80 AS latitude
      FROM range(${first}, ${last}) t(n)) TO '${path}' (FORMAT parquet)`,
  )
}

/** A folder of files, as Spark partitions a table. */
async function partitioned(rows = ROWS): Promise<string> {
  const folder = join(scratch, `partitioned-${++serial}`, 'places')
  for (let i = 0; i < FILES; i++) {
    const inner = join(folder, `year=${2020 + Math.floor(i / 2)}`)
    mkdirSync(inner, { recursive: true })
    await writeRows(join(inner, `part-${i}.parquet`), i * rows, (i + 1) * rows)
  }
  return folder
}

/** Divides a source, and stages each part as if it were on another machine, which has only the files that it reads. */
async function stageApart(options: CompileOptions, partBytes: number): Promise<CompileOptions['staged']> {
  const place = join(scratch, `apart-${++serial}`)
  const planned = await planParts({ ...options, folder: join(place, 'planning') }, partBytes)
  assert.ok(planned)
  const plan = join(place, 'plan')
  writeFileSync(plan, JSON.stringify(planned))
  const parts: string[] = []
  // The last part is staged first: the order does not matter.
  for (const [part, { names }] of [...planned.parts.entries()].reverse()) {
    const path = join(place, `machine-${part}`, 'source')
    for (const name of names) await cp(join(options.path, name), join(path, name), { recursive: true })
    const { limits, threads } = options
    const folder = join(place, `staged-${part}`)
    const own = { path, folder, limits, threads, staged: { plan, parts: [], readingMs: 0 } }
    parts[part] = await stagePart(own as CompileOptions, part)
    assert.deepEqual(readdirSync(folder), ['part'])
  }
  return { plan, parts, readingMs: 0 }
}

function optionsFor(path: string, more: Partial<CompileOptions> = {}): CompileOptions {
  return { path, folder: join(scratch, `snapshot-${++serial}`), threads: 2, ...more }
}

async function bothWays(options: CompileOptions, partBytes: number) {
  const alone = await compileSnapshot(options)
  const staged = await stageApart(options, partBytes)
  const together = await compileSnapshot({ ...options, folder: `${options.folder}-shared`, staged })
  return { alone, together, parts: staged!.parts.length }
}

test('the files of a folder that are staged apart become the same snapshot', async () => {
  const path = await partitioned()
  for (const more of [{}, { idColumn: 'n' }, { crs: 'EPSG:4258' }]) {
    const { alone, together, parts } = await bothWays(optionsFor(path, more), 60_000)
    assert.ok(parts > 2, `${parts} parts`)
    assert.equal(together.manifest.rows, FILES * ROWS)
    assert.deepEqual(together.manifest.files, alone.manifest.files)
    assert.deepEqual(together.report, alone.report)
    assert.deepEqual(together.manifest.source, alone.manifest.source)
  }
})

test('the row groups of one file that are staged apart become the same snapshot', async () => {
  const path = join(scratch, 'large.parquet')
  await writeRows(path, 0, 3 * 122_880 + 17)
  const { alone, together, parts } = await bothWays(optionsFor(path), 65_536)
  assert.equal(parts, 3)
  assert.deepEqual(together.manifest.files, alone.manifest.files)
  assert.deepEqual(together.report, alone.report)
})

test('rows that cannot be published are reported as if the source had been read as a whole', async () => {
  const path = await partitioned(500)
  const broken = join(path, 'year=2021', 'part-2.parquet')
  await query(
    `COPY (SELECT * REPLACE (CASE WHEN n % 100 = 7 THEN 999 ELSE longitude END AS longitude) FROM read_parquet('${broken}', hive_partitioning = false))
      TO '${broken}.new' (FORMAT parquet)`,
  )
  await cp(`${broken}.new`, broken)
  const options = optionsFor(path, { maxProblems: 3 })
  const failure = await compileSnapshot(options).catch((error: unknown) => error as Error)
  const staged = await stageApart(options, 4000)
  const shared = await compileSnapshot({ ...options, staged }).catch((error: unknown) => error as Error)
  assert.ok(shared instanceof InvalidSourceError && failure instanceof InvalidSourceError)
  assert.deepEqual([shared.problemCount, shared.problems.length], [5, 3])
  assert.deepEqual([shared.message, shared.problems], [failure.message, failure.problems])
  const { alone, together } = await bothWays(optionsFor(path, { maxProblems: 3, skipInvalid: true }), 4000)
  assert.deepEqual(together.report, alone.report)
  assert.deepEqual(together.manifest.files, alone.manifest.files)
})

test('the limit of expansion holds for all parts together', async () => {
  const options = optionsFor(await partitioned(500))
  const staged = await stageApart(options, 4000)
  const plan = await readPlan(staged!.plan)
  // More than any part has, and less than all have.
  plan.source.maxValueBytes = 120_000
  writeFileSync(staged!.plan, JSON.stringify(printPlan(plan)))
  await assert.rejects(compileSnapshot({ ...options, staged }), /WAYLEAVE_MAX_EXPANSION/)
  const folder = join(scratch, `one-part-${++serial}`)
  const { path, threads } = options
  const one = { ...options, folder, path, threads, staged: { ...staged!, parts: [] } }
  assert.ok(await stagePart(one, 0), 'a part by itself does not exceed it')
})

test('what is not worth dividing is not divided', async () => {
  const path = await partitioned(50)
  assert.equal(await planParts(optionsFor(path), 1 << 30), null)
  assert.equal(await planParts(optionsFor(path, { limits: { rows: 10 } }), 1000), null)
  const csv = join(scratch, 'places.csv')
  writeFileSync(csv, 'n\n1\n2\n')
  assert.equal(await planParts(optionsFor(csv), 1), null)
})

test('a part that is not whole is an error', async () => {
  const options = optionsFor(await partitioned(500))
  const staged = await stageApart(options, 4000)
  truncateSync(staged!.parts[1]!, 1000)
  await assert.rejects(compileSnapshot({ ...options, staged }))
})

test('processes in a sandbox divide a source, stage its parts and compile them', async () => {
  const options = optionsFor(await partitioned(500))
  const sandbox = new Sandbox('auto')
  const alone = await compileSnapshot(options)
  const place = join(scratch, `sandboxed-${++serial}`)
  const planned = await planPartsInChildProcess(
    { ...options, folder: join(place, 'planning') },
    4000,
    undefined,
    sandbox,
  )
  const plan = join(place, 'plan')
  mkdirSync(place, { recursive: true })
  writeFileSync(plan, JSON.stringify(planned))
  const parts: string[] = []
  for (const part of planned!.parts.keys()) {
    const own = {
      ...{ path: options.path, file: 'places', folder: join(place, `staged-${part}`) },
      staged: { plan, parts: [], readingMs: 0 },
    }
    parts.push(await stagePartInChildProcess(own, part, undefined, undefined, sandbox))
  }
  const folder = join(place, 'snapshot')
  const staged = { plan, parts, readingMs: 1 }
  const together = await compileInChildProcess({ ...options, folder, staged }, undefined, undefined, sandbox)
  assert.ok(parts.length > 2)
  assert.deepEqual(together.manifest.files, alone.manifest.files)
})

test('a plan with names that lead out of the folder of the source is refused', () => {
  const plan = (name: unknown) => ({ parts: [{ names: [name as string], rows: 1 }], plan: '' })
  assert.ok(acceptPlan(plan('year=2020/a.parquet')))
  for (const name of ['/etc/passwd', '../b.parquet', 'a/../../b.parquet', 7])
    assert.throws(() => acceptPlan(plan(name)), /sent no plan/)
})
