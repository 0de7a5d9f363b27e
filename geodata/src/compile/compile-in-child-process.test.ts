import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { open, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { needs } from '../../../scripts/test-run/needs.ts'
import { openCsv } from '../formats/csv/csv.ts'
import { openParquet } from '../formats/parquet/parquet.ts'
import { fileSource } from '../formats/reading/byte-source.ts'
import { SourceError } from '../source-error.ts'
import { compileSnapshot } from './compile.ts'
import { query, scratch } from './compile-fixture.ts'
import { compileInChildProcess } from './compile-in-child-process.ts'
import { InvalidSourceError } from './invalid-source-error.ts'

needs('time')

/** Several chunks of rows, with long texts so that the file is large enough to be read by threads. */
const ROWS = 12_000
const LONG = 'a-long-text-'.repeat(120)

function point(i: number): string {
  const coordinates = [((i * 7919) % 36000) / 100 - 180, ((i * 104729) % 17000) / 100 - 85]
  const name = `Place ${i}, ${LONG}`
  const properties = { i, name, [i % 3 === 0 ? 'third' : 'other']: i % 7 === 0 ? null : i / 3 }
  return JSON.stringify({ type: 'Feature', geometry: { type: 'Point', coordinates }, properties })
}

async function writePoints(name: string, count: number): Promise<string[]> {
  const features = Array.from({ length: count }, (_, i) => point(i))
  const text = `{"type":"FeatureCollection","features":[\n${features.join(',\n')}\n]}`
  await writeFile(join(scratch, name), text)
  return features
}

test('many threads in another process make the same snapshot as one thread here', async () => {
  const path = join(scratch, 'many.geojson')
  const features = await writePoints('many.geojson', ROWS)
  assert.ok((await stat(path)).size > 1 << 24, 'large enough for threads')
  const progress: number[] = []
  const apart = await compileInChildProcess(
    { path, folder: join(scratch, 'apart'), threads: 3 },
    ({ rows }) => progress.push(rows),
  )
  const sequence = join(scratch, 'sequence.geojson')
  await writeFile(sequence, features.join('\n'))
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
  const error = await compileInChildProcess({ path, folder }).catch((thrown) => thrown)
  assert.ok(error instanceof InvalidSourceError)
  assert.deepEqual(error.problems, [{ row: 1, message: 'longitude 999 is outside ±180' }])
  await assert.rejects(stat(folder))
  await writeFile(path, '{"features":[')
  await assert.rejects(compileInChildProcess({ path, folder }), (refused) => {
    assert.ok(refused instanceof SourceError)
    assert.equal(refused.message, 'bad.geojson ends before its array of features does.')
    return true
  })
})

test('aborting ends the process and removes what it wrote', async () => {
  const path = join(scratch, 'aborted.geojson')
  await writePoints('aborted.geojson', ROWS)
  const folder = join(scratch, 'aborted')
  const stop = new AbortController()
  const running = compileInChildProcess({ path, folder }, () => stop.abort(new Error('stopped')), stop.signal)
  await assert.rejects(running, /stopped/)
  await assert.rejects(stat(folder))
})

test('a compiling process that is killed is reported as killed, and nothing is left', async () => {
  await writePoints('killed.geojson', ROWS)
  const folder = join(scratch, 'killed')
  const compiling = compileInChildProcess({ path: join(scratch, 'killed.geojson'), folder }).catch(
    (error) => error,
  )
  process.kill(await compilerBelow(process.pid), 'SIGKILL')
  const error = await compiling
  assert.ok(error instanceof SourceError)
  assert.match(error.message, /^The process that compiled killed\.geojson was killed\./)
  await assert.rejects(stat(folder))
})

/** A view that computes without an end and never returns a row. */
function writeEndless(name: string): string {
  const path = join(scratch, name)
  const database = new DatabaseSync(path)
  database.exec('CREATE TABLE gpkg_contents (table_name TEXT, data_type TEXT)')
  database.exec(`INSERT INTO gpkg_contents VALUES ('layer', 'attributes')`)
  database.exec(
    `CREATE TABLE ten (i); INSERT INTO ten VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
     CREATE VIEW layer AS SELECT a.i FROM ten a, ten b, ten c, ten d, ten e, ten f, ten g, ten h, ten i, ten j
       WHERE a.i + b.i + c.i + d.i + e.i + f.i + g.i + h.i + i.i + j.i < 0`,
  )
  database.close()
  return path
}

test('a view without an end is refused when its time is over, and nothing is left', async () => {
  const path = writeEndless('endless.gpkg')
  const folder = join(scratch, 'endless')
  for (const [limits, message] of [
    [
      { stalledSeconds: 2 },
      /^endless\.gpkg is refused: reading its next row took more than 2 s.*READ_SECONDS/,
    ],
    [{ seconds: 2 }, /^endless\.gpkg is refused: publishing it took more than 2 s.*PUBLISH_SECONDS/],
  ] as const) {
    const error = await compileInChildProcess({ path, folder, limits }).catch((thrown) => thrown)
    assert.ok(error instanceof SourceError, String(error))
    assert.match(error.message, message)
    await assert.rejects(stat(folder))
  }
})

test('a compiling process that is blocked ends when its parent is killed', async () => {
  const path = writeEndless('orphan.gpkg')
  const script = `
    const { compileInChildProcess } = await import(${JSON.stringify(import.meta.resolve('./compile-in-child-process.ts'))})
    compileInChildProcess(${JSON.stringify({ path, folder: join(scratch, 'orphan') })})
    setInterval(() => {}, 1000)`
  const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: 'inherit',
  })
  const child = await compilerBelow(parent.pid!)
  // Wait until SQLite computes: the process has used processor time of its main thread for a while.
  while ((await userTicks(child)) < 200) await sleep(50)
  parent.kill('SIGKILL')
  while (existsSync(`/proc/${child}`)) await sleep(50)
})

/** The process that compiles, which the sandbox may have started through others. */
async function compilerBelow(ancestor: number): Promise<number> {
  for (;;) {
    for (const pid of await descendants(ancestor)) {
      const [, ...args] = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0')
      if (args.at(-2)?.endsWith('compile-process.ts') && !args.includes('--')) return pid
    }
    await sleep(10)
  }
}

async function descendants(pid: number): Promise<number[]> {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => ''))
    .split(' ')
    .filter(Boolean)
    .map(Number)
  return [...children, ...(await Promise.all(children.map(descendants))).flat()]
}

/** The processor time of a process, in hundredths of a second. */
async function userTicks(pid: number): Promise<number> {
  return Number((await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]!.split(' ')[11])
}

test('problems found by several threads are reported in row order', async () => {
  const path = join(scratch, 'broken.geojson')
  const features = Array.from({ length: ROWS }, (_, i) =>
    i % 600 === 599 ? '{"type":"Feature","geometry":{"type":"Point","coordinates":[0]}}' : point(i),
  )
  await writeFile(path, `{"type":"FeatureCollection","features":[${features.join(',')}]}`)
  const folder = join(scratch, 'broken')
  const error = await compileSnapshot({ path, folder }).catch((thrown) => thrown)
  assert.ok(error instanceof InvalidSourceError)
  assert.equal(error.problemCount, 20)
  assert.deepEqual(
    error.problems.map(({ row }) => row),
    Array.from({ length: 10 }, (_, i) => (i + 1) * 600),
  )
  await writeFile(path, `{"type":"FeatureCollection","features":[${features.join(',')},{"type":`)
  const cut = await compileSnapshot({ path, folder }).catch((thrown) => thrown)
  assert.ok(cut instanceof InvalidSourceError)
  assert.equal(cut.problemCount, 21)
  await assert.rejects(compileSnapshot({ path, folder, limits: { columns: 2 } }), /has more than 2 columns/)
})

test('a CSV in many threads makes the same snapshot as in one, whatever its texts are', async () => {
  const path = join(scratch, 'many.csv')
  const line = (i: number) => {
    const name = i % 3 === 0 ? `"the ""${i}"",\nüber ${LONG}"` : `Straße ${i} ${LONG}`
    // The column turns from numbers into text late, in a chunk of its own.
    const size = i < ROWS - 2_000 ? `${i}.50` : `${i}`
    const code = i === ROWS - 1 ? 'A7' : `${i}`
    return `${name},${i % 7 === 0 ? '' : i},${i / 64},${size},${code},2020-01-${10 + (i % 18)},${(i % 360) - 180},${(i % 170) - 85}`
  }
  const lines = Array.from({ length: ROWS }, (_, i) => line(i))
  await writeFile(path, `name,n,value,size,code,day,longitude,latitude\r\n${lines.join('\r\n')}`)
  const { size } = await stat(path)
  assert.ok(size > 1 << 24, 'large enough for threads')
  const apart = await compileInChildProcess({ path, folder: join(scratch, 'apart-csv'), threads: 3 })
  const stream = await openCsv(await fileSource(path, 'many.csv'))
  const small = Object.defineProperty(stream, 'totalBytes', { value: 0 })
  const options = { path, folder: join(scratch, 'here-csv'), threads: 1 }
  const here = await compileSnapshot(options, undefined, undefined, {
    stream: small,
    format: 'csv',
    bytes: size,
  })
  assert.deepEqual(apart.manifest, { ...here.manifest, files: apart.manifest.files })
  for (const file of ['features.pack', 'features.index', 'sample.json'])
    assert.equal(apart.manifest.files[file]!.sha256, here.manifest.files[file]!.sha256, file)
  assert.deepEqual(
    apart.manifest.columns.map(({ type }) => type),
    ['text', 'integer', 'number', 'number', 'text', 'date'],
  )
  const pack = await readFile(join(scratch, 'apart-csv', 'features.pack'), 'utf8')
  const features = pack.split(',\n').map((text) => JSON.parse(text))
  for (const { id, properties, geometry } of features) {
    const i = id - 1
    assert.deepEqual(properties, {
      name: i % 3 === 0 ? `the "${i}",\nüber ${LONG}` : `Straße ${i} ${LONG}`,
      n: i % 7 === 0 ? null : i,
      value: i / 64,
      size: i < ROWS - 2_000 ? i + 0.5 : i,
      code: i === ROWS - 1 ? 'A7' : `${i}`,
      day: `2020-01-${10 + (i % 18)}`,
    })
    assert.deepEqual(geometry.coordinates, [(i % 360) - 180, (i % 170) - 85])
  }
})

test('digits are kept as they are written where one value makes a column text', async () => {
  const path = join(scratch, 'late.csv')
  const texts = Array.from({ length: 30_000 }, (_, i) => [`${i}`, `${i}.50`, `${i}.25`, `-${i / 7}`, 'true'])
  texts.push(['x', 'x', 'x', 'x', 'x'])
  await writeFile(path, `a,b,c,d,e\n${texts.map((row) => row.join(',')).join('\n')}\n`)
  const { manifest } = await compileSnapshot({ path, folder: join(scratch, 'late') })
  assert.ok(manifest.columns.every(({ type }) => type === 'text'))
  const pack = await readFile(join(scratch, 'late', 'features.pack'), 'utf8')
  for (const [i, text] of pack.split(',\n').entries())
    assert.deepEqual(Object.values(JSON.parse(text).properties), texts[i])
})

test('a Parquet file in many threads makes the same snapshot as in one, and a broken one is refused', async () => {
  const path = join(scratch, 'many.parquet')
  const noise = Array.from({ length: 45 }, (_, i) => `md5((i * 10 + ${i})::VARCHAR)`).join(' || ')
  await query(`
    COPY (SELECT i AS n, 'Straße ' || i AS name, TIMESTAMPTZ '2020-01-01 00:00:00Z' + i * INTERVAL 1 MINUTE AS time,
      (i % 360) - 180.0 AS lon, (i % 170) - 85.0 AS lat, random() AS value, ${noise} AS noise FROM range(12000) t(i))
    TO '${path}' (FORMAT parquet, COMPRESSION uncompressed, ROW_GROUP_SIZE 2048)`)
  const { size } = await stat(path)
  assert.ok(size > 1 << 24, 'large enough for threads')
  const apart = await compileInChildProcess({ path, folder: join(scratch, 'apart-parquet'), threads: 3 })
  const stream = await openParquet(path, 'many.parquet')
  assert.equal('blocks' in stream, false)
  const options = { path, folder: join(scratch, 'here-parquet'), threads: 1 }
  const here = await compileSnapshot(options, undefined, undefined, {
    stream,
    format: 'parquet',
    bytes: size,
  })
  assert.deepEqual(apart.manifest, { ...here.manifest, files: apart.manifest.files })
  assert.deepEqual([apart.manifest.rows, apart.manifest.columns[2]!.type], [12_000, 'timestamp'])
  for (const file of ['features.pack', 'features.index', 'sample.json'])
    assert.equal(apart.manifest.files[file]!.sha256, here.manifest.files[file]!.sha256, file)
  const handle = await open(path, 'r+')
  await handle.write(Buffer.alloc(1 << 20, 0xff), 0, 1 << 20, Math.round(size / 2))
  await handle.close()
  await assert.rejects(compileInChildProcess({ path, folder: join(scratch, 'broken') }), (refused) => {
    assert.ok(refused instanceof SourceError, String(refused))
    assert.match(refused.message, /^many\.parquet cannot be read: a page has no header\.$/)
    return true
  })
})
