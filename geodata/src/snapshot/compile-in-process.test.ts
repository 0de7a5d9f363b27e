import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { SourceError } from '../source-error.ts'
import { compileSnapshot } from './compile.ts'
import { compileInProcess } from './compile-in-process.ts'
import { InvalidSourceError } from './invalid-source-error.ts'

const scratch = await mkdtemp(join(tmpdir(), 'compile-in-process-test-'))
after(() => rm(scratch, { recursive: true, force: true }))

function point(i: number): string {
  const coordinates = [((i * 7919) % 36000) / 100 - 180, ((i * 104729) % 17000) / 100 - 85]
  const properties = { i, name: `Place ${i}`, [i % 3 === 0 ? 'third' : 'other']: i % 7 === 0 ? null : i / 3 }
  return JSON.stringify({ type: 'Feature', geometry: { type: 'Point', coordinates }, properties })
}

async function writePoints(name: string, count: number): Promise<string> {
  const path = join(scratch, name)
  const features = Array.from({ length: count }, (_, i) => point(i))
  await writeFile(path, `{"type":"FeatureCollection","features":[\n${features.join(',\n')}\n]}`)
  return path
}

test('many threads in another process make the same snapshot as one thread here', async () => {
  const path = await writePoints('many.geojson', 150_000)
  assert.ok((await stat(path)).size > 1 << 24, 'large enough for threads')
  const progress: number[] = []
  const apart = await compileInProcess({ path, folder: join(scratch, 'apart'), threads: 3 }, ({ rows }) =>
    progress.push(rows),
  )
  const sequence = join(scratch, 'sequence.geojson')
  await writeFile(sequence, Array.from({ length: 150_000 }, (_, i) => point(i)).join('\n'))
  const here = await compileSnapshot({ path: sequence, folder: join(scratch, 'here'), threads: 1 })
  assert.deepEqual(apart.manifest.columns, here.manifest.columns)
  for (const file of ['features.pack', 'features.index', 'sample.json'])
    assert.equal(apart.manifest.files[file]!.sha256, here.manifest.files[file]!.sha256, file)
  assert.ok(progress.length > 1)
  assert.deepEqual(
    JSON.parse(await readFile(join(scratch, 'apart', 'manifest.json'), 'utf8')),
    apart.manifest,
  )
})

test('an invalid file’s problems come across, and nothing is left', async () => {
  const path = join(scratch, 'bad.geojson')
  await writeFile(path, '{"features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[999,0]}}]}')
  const folder = join(scratch, 'bad')
  const error = await compileInProcess({ path, folder }).catch((thrown) => thrown)
  assert.ok(error instanceof InvalidSourceError)
  assert.deepEqual(error.problems, [{ row: 1, message: 'longitude 999 is outside ±180' }])
  await assert.rejects(stat(folder))
  await writeFile(path, '{"features":[')
  await assert.rejects(compileInProcess({ path, folder }), (refused) => {
    assert.ok(refused instanceof SourceError)
    assert.equal(refused.message, 'bad.geojson ends before its array of features does.')
    return true
  })
})

test('aborting ends the process and removes what it wrote', async () => {
  const path = await writePoints('aborted.geojson', 100_000)
  const folder = join(scratch, 'aborted')
  const stop = new AbortController()
  const running = compileInProcess({ path, folder }, () => stop.abort(new Error('stopped')), stop.signal)
  await assert.rejects(running, /stopped/)
  await assert.rejects(stat(folder))
})

test('problems that several threads find are told in the order of the rows', async () => {
  const path = join(scratch, 'broken.geojson')
  const features = Array.from({ length: 150_000 }, (_, i) =>
    i % 10_000 === 9_999 ? '{"type":"Feature","geometry":{"type":"Point","coordinates":[0]}}' : point(i),
  )
  await writeFile(path, `{"type":"FeatureCollection","features":[${features.join(',')}]}`)
  const folder = join(scratch, 'broken')
  const error = await compileSnapshot({ path, folder }).catch((thrown) => thrown)
  assert.ok(error instanceof InvalidSourceError)
  assert.equal(error.problemCount, 15)
  assert.deepEqual(
    error.problems.map(({ row }) => row),
    Array.from({ length: 10 }, (_, i) => (i + 1) * 10_000),
  )
  await writeFile(path, `{"type":"FeatureCollection","features":[${features.join(',')},{"type":`)
  const cut = await compileSnapshot({ path, folder }).catch((thrown) => thrown)
  assert.ok(cut instanceof InvalidSourceError)
  assert.equal(cut.problemCount, 16)
  await assert.rejects(compileSnapshot({ path, folder, limits: { columns: 2 } }), /has more than 2 columns/)
})
