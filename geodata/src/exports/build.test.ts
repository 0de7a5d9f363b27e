import assert from 'node:assert/strict'
import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { EXPORT_FORMAT_NAMES } from '@wayleave/contract/export-formats'
import { needs } from '../../../scripts/test-run/needs.ts'
import { ExportError, isDiskFull } from '../export-error.ts'
import { DamagedSnapshotError } from '../snapshot/damaged-snapshot-error.ts'
import { partialPath } from '../write-durably.ts'
import { buildExportInChildProcess, buildVariantInChildProcess } from './build-in-child-process.ts'
import type { BuildRequest } from './build-process.ts'
import { ByteSink } from './byte-sink.ts'
import { buildExport, EXPORT_ENTRIES, exportFormatsOf } from './index.ts'
import { compileFeatures, type FixtureFeature, temporaryFolder } from './testing/compiled-fixture.ts'
import { NASTY_FEATURES } from './testing/nasty-features.ts'
import { buildVariant } from './variant.ts'
import { removeStalePartials, writeAtomically } from './write-atomically.ts'

needs('time')

async function compiled(t: TestContext, features: FixtureFeature[] = NASTY_FEATURES) {
  const root = await temporaryFolder((remove) => t.after(remove))
  const { folder } = await compileFeatures(join(root, 'snapshot'), features)
  return { root, folder }
}

const MANY = Array.from({ length: 20_000 }, (_, i) => ({
  geometry: { type: 'Point' as const, coordinates: [(i % 3600) / 10 - 180, (i % 1700) / 10 - 85] },
  properties: { number: i, name: `a name of some length ${i}` },
}))

test('the same snapshot gives the same bytes, here and in a process of its own', async (t) => {
  const { root, folder } = await compiled(t)
  for (const { format } of EXPORT_ENTRIES.filter(({ writer }) => writer)) {
    const here = await buildExport(folder, format, join(root, `${format}-1`), { table: 'nasty' })
    const there = await buildExportInChildProcess(folder, format, join(root, `${format}-2`), {
      table: 'nasty',
    })
    assert.deepEqual(there, here, format)
    assert.equal((await readFile(join(root, `${format}-2`))).length, here.bytes)
  }
})

test('an aborted build leaves nothing behind', async (t) => {
  const { root, folder } = await compiled(t, MANY)
  for (const format of ['csv', 'shp', 'gpkg'] as const) {
    const soon = AbortSignal.timeout(1)
    const here = buildExport(folder, format, join(root, 'out'), {
      table: 'many',
      signal: AbortSignal.abort(),
    })
    await assert.rejects(here, { name: 'AbortError' })
    const there = buildExportInChildProcess(folder, format, join(root, 'out'), {
      table: 'many',
      signal: soon,
    })
    await assert.rejects(there, { name: 'TimeoutError' })
    assert.deepEqual(await readdir(root), ['snapshot'])
  }
})

const isDamage = (file: string) => (error: unknown) =>
  error instanceof DamagedSnapshotError && error.file === file

test('no export is built of damaged files: both processes name the file, and leave nothing behind', async (t) => {
  const { root, folder } = await compiled(t)
  const formats = ['csv', 'json', 'geojson', 'kml', 'shp', 'gpkg', 'fgb'] as const
  const out = join(root, 'out')
  const pack = join(folder, 'features.pack')
  const whole = await readFile(pack)
  for (const damaged of [withFlippedByte(whole), whole.subarray(0, 57), Buffer.alloc(0)]) {
    await writeFile(pack, damaged)
    for (const format of formats) {
      await assert.rejects(
        buildExport(folder, format, out, { table: 'x' }),
        isDamage('features.pack'),
        format,
      )
    }
    await assert.rejects(
      buildExportInChildProcess(folder, 'csv', out, { table: 'x' }),
      isDamage('features.pack'),
    )
  }
  await writeFile(pack, whole)
  for (const [file, format] of [
    ['rows.parquet', 'geoparquet'],
    ['rows.parquet', 'gpkg'],
    ['checksums.json', 'csv'],
  ] as const) {
    const bytes = await readFile(join(folder, file))
    await writeFile(join(folder, file), withFlippedByte(bytes))
    await assert.rejects(buildExport(folder, format, out, { table: 'x' }), isDamage(file), file)
    await writeFile(join(folder, file), bytes)
  }
  assert.deepEqual(await readdir(root), ['snapshot'])
  await rm(join(folder, 'manifest.json'))
  await assert.rejects(
    buildExportInChildProcess(folder, 'csv', out, { table: 'x' }),
    isDamage('manifest.json'),
  )
})

function withFlippedByte(bytes: Buffer): Buffer {
  const flipped = Buffer.from(bytes)
  flipped[flipped.length >> 1]! ^= 1
  return flipped
}

test('a building process whose parent is gone removes what it has written', async (t) => {
  const { root, folder } = await compiled(t, MANY)
  const outPath = join(root, 'out')
  for (const format of ['csv', 'shp', 'gpkg'] as const) {
    const child = fork(join(import.meta.dirname, 'build-process.ts'), { execArgv: [], stdio: 'inherit' })
    const exit = once(child, 'exit')
    const options = { table: 'many' }
    child.send({
      snapshotFolder: folder,
      format,
      outPath,
      options,
      manifest: undefined,
    } satisfies BuildRequest)
    while (!readdirSync(root).some((name) => name.includes('.partial-'))) await setImmediate()
    child.kill('SIGSTOP')
    child.disconnect()
    child.kill('SIGCONT')
    await exit
    const names = await readdir(root)
    assert.deepEqual(
      names.filter((name) => name.includes('.partial-')),
      [],
      format,
    )
  }
})

test('a full disk is reported by its code, and an existing file stays unchanged', async (t) => {
  const { root } = await compiled(t)
  const path = join(root, 'out')
  await writeFile(path, 'before')
  const build = writeAtomically(path, async () => {
    const sink = new ByteSink('/dev/full')
    sink.text('anything')
    return sink.close()
  })
  await assert.rejects(build, (error) => error instanceof ExportError && error.code === 'disk-full')
  assert.equal(await readFile(path, 'utf8'), 'before')

  const database = new DatabaseSync(join(root, 'small.sqlite'))
  database.exec('CREATE TABLE t (x); PRAGMA max_page_count = 2')
  assert.throws(() => database.exec('INSERT INTO t VALUES (zeroblob(100000))'), isDiskFull)
  database.close()
})

test('a gzip and a zstd variant hold the file, and their bytes are the same every time', async (t) => {
  const { root, folder } = await compiled(t, MANY)
  const path = join(root, 'out.geojson')
  await buildExport(folder, 'geojson', path, { table: 'many' })
  const whole = await readFile(path)
  assert.ok(whole.length > 2 << 20, 'several blocks')
  const first = await buildVariant(path, 'gzip')
  assert.deepEqual(await buildVariantInChildProcess(path, 'gzip'), first)
  assert.ok(gunzipSync(await readFile(`${path}.gz`)).equals(whole))
  const zstd = await buildVariant(path, 'zstd')
  assert.deepEqual(await buildVariantInChildProcess(path, 'zstd'), zstd)
  assert.ok(zstdDecompressSync(await readFile(`${path}.zst`)).equals(whole))
  await writeFile(path, '')
  await buildVariant(path, 'gzip')
  assert.equal(gunzipSync(await readFile(`${path}.gz`)).length, 0)
})

test('what a killed builder has left is removed, and what a running one writes is not', async (t) => {
  const root = await temporaryFolder((remove) => t.after(remove))
  const dead = spawnSync(process.execPath, ['-e', '']).pid
  await writeFile(partialPath(join(root, 'a.csv'), dead), '')
  await mkdir(`${partialPath(join(root, 'a.shp.zip'), dead)}.parts`)
  await writeFile(partialPath(join(root, 'b.csv'), process.pid), '')
  await writeFile(join(root, 'c.csv'), '')
  await removeStalePartials(root)
  assert.deepEqual((await readdir(root)).toSorted(), [`b.csv.partial-${process.pid}`, 'c.csv'])
})

test('a table is not offered in a format that needs a geometry', () => {
  const entries = EXPORT_ENTRIES.map((entry) => ({ ...entry, needsGeometry: entry.format === 'fgb' }))
  const names = (geometryType: 'Point' | null) =>
    exportFormatsOf({ geometryType }, entries).map(({ format }) => format)
  assert.deepEqual(names('Point'), EXPORT_FORMAT_NAMES)
  assert.deepEqual(
    names(null),
    EXPORT_FORMAT_NAMES.filter((name) => name !== 'fgb'),
  )
})
