import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Sandbox } from '@wayleave/geodata/compile'
import { writePart } from '@wayleave/geodata/testing'
import { testedProgramArguments } from '../../../../scripts/program/tested-program.ts'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { childProcessWork } from '../../base/data-work.ts'
import { operator } from '../../base/events/events.ts'
import { runCommand, runProgramFile } from '../../testing/processes/run-command.ts'
import { points, publishText } from '../../testing/publish.ts'
import { openTestServer, temporaryFolder } from '../../testing/test-server.ts'

needs('processes')

test('what the command line publishes and removes is seen by the running server’s next request', async (t) => {
  const service = await openTestServer(t)
  const file = join(temporaryFolder(t), 'places.geojson')
  for (const count of [4, 6]) {
    writeFileSync(file, points(count))
    const run = count === 4 ? runProgramFile : runCommand
    const published = await run(
      service.config,
      'publish',
      file,
      '--table',
      'places',
      '--title',
      'P',
      '--json',
    )
    assert.equal(published.code, 0, published.stderr)
    const report = JSON.parse(published.stdout)
    assert.deepEqual([report.rows, report.urls.dataset.endsWith('/v1/dataset/places')], [count, true])
    assert.equal(published.stderr, '', 'quiet in a pipe')
    assert.equal((await service.request('GET', '/v1/dataset/places')).body.rows, count)
  }
  const parts = join(temporaryFolder(t), 'parts')
  mkdirSync(join(parts, 'kind=a'), { recursive: true })
  const names = ['0.parquet', '1.parquet'].map((name) => join(parts, 'kind=a', name))
  await writePart(names[0]!, 1, 4)
  await writePart(names[1]!, 5, 9)
  for (const [run, arguments_, name] of [
    [runProgramFile, names, '0.parquet and 1 more'],
    [runCommand, [parts], 'parts'],
  ] as const) {
    const published = await run(service.config, 'publish', ...arguments_, '--table', 'places', '--json')
    assert.equal(published.code, 0, published.stderr)
    const { rows, file: source, columns } = JSON.parse(published.stdout)
    assert.deepEqual([rows, source, columns.at(-1).name], [9, name, 'kind'])
  }
  const listed = await runCommand(service.config, 'datasets', '--json')
  assert.deepEqual(
    JSON.parse(listed.stdout).data.map((one: { table: string }) => one.table),
    ['places'],
  )
  writeFileSync(
    file,
    '{"type":"FeatureCollection","features":[{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[1,99]}}]}',
  )
  const broken = await runCommand(service.config, 'publish', file, '--table', 'places')
  assert.equal(broken.code, 1)
  assert.match(broken.stderr, /places\.geojson has 1 row.*\n {2}row 1: /)
  assert.equal((await runCommand(service.config, 'publish', file, '--table', 'Bad')).code, 2)
  assert.equal((await runCommand(service.config, 'publish', file)).code, 2)
  assert.equal((await runCommand(service.config, 'publish', '/nowhere.csv', '--table', 'x')).code, 1)
  assert.equal((await runCommand(service.config, 'unpublish', 'places')).code, 0)
  assert.equal((await service.request('GET', '/v1/dataset/places')).status, 404)
  assert.equal((await runCommand(service.config, 'unpublish', 'places')).code, 1)
})

test('Ctrl+C ends a publishing with exit code 130, and leaves no files behind', async (t) => {
  const dataDir = temporaryFolder(t)
  const temporary = temporaryFolder(t)
  const file = join(dataDir, 'many.geojson')
  writeFileSync(file, points(100_000))
  const cases = [
    { source: file, isBusy: () => existsSync(join(dataDir, 'snapshots', '.staging')) },
    { source: '-', isBusy: () => readdirSync(temporary, { recursive: true }).join().includes('input') },
  ]
  for (const { source, isBusy } of cases) {
    const child = spawn(
      process.execPath,
      [...testedProgramArguments(), 'publish', source, '--table', 'places', '--data-dir', dataDir],
      { stdio: ['pipe', 'ignore', 'pipe'], env: { ...process.env, TMPDIR: temporary } },
    )
    let stderr = ''
    child.stderr.on('data', (text) => {
      stderr += text
    })
    child.stdin.write('name,lon,lat\n')
    const exit = once(child, 'close')
    while (!isBusy() && child.exitCode === null) await sleep(5)
    child.kill('SIGINT')
    assert.deepEqual(await exit, [130, null], stderr)
    assert.equal(stderr, 'wayleave: Interrupted: nothing was published.\n')
    assert.equal(existsSync(join(dataDir, 'snapshots', '.staging')), false)
    assert.deepEqual(
      readdirSync(temporary).filter((name) => name.startsWith('wayleave-')),
      [],
    )
  }
})

test('a file that changes while it is read is not published', async (t) => {
  const service = await openTestServer(t)
  const file = join(temporaryFolder(t), 'places.csv')
  const rows = 'name,lon,lat\na,1,1\nb,2,2\n'
  for (const change of [
    () => appendFileSync(file, 'c,3,3\n'),
    () => writeFileSync(file, rows.slice(0, 20)),
  ]) {
    writeFileSync(file, rows)
    const { compile } = childProcessWork(new Sandbox('off'))
    const request = { table: 'places', path: file, description: {} }
    const published = service.parts.publishing.publish(request, operator, {
      compile: async (...args) => {
        const compiled = await compile(...args)
        change()
        return compiled
      },
    })
    await assert.rejects(published, /places\.csv was changed while it was read: nothing was published/)
  }
  assert.equal((await service.request('GET', '/v1/dataset/places')).status, 404)
  assert.deepEqual(await service.parts.blobs.list(), [])
})

test('kill -9 at any moment of publishing leaves the previous version, and no partial files after the next start', async (t) => {
  const dataDir = temporaryFolder(t)
  const first = await openTestServer(t, { dataDir })
  await publishText(first, 'places', 'places.geojson', points(7))
  await first.stop()
  const file = join(dataDir, 'many.geojson')
  writeFileSync(file, points(40_000))
  for (const moment of [250, 500, 800, 1200]) {
    const child = spawn(
      process.execPath,
      [...testedProgramArguments(), 'publish', file, '--table', 'places', '--data-dir', dataDir],
      { stdio: 'ignore' },
    )
    const exit = once(child, 'exit')
    await sleep(moment)
    child.kill('SIGKILL')
    await exit
  }
  const second = await openTestServer(t, { dataDir })
  const { body } = await second.request('GET', '/v1/dataset/places')
  const archives = (await second.request('GET', '/v1/dataset/places/archives')).body.data
  assert.ok(body.rows === 7 || body.rows === 40_000)
  assert.equal(body.version, archives[0].version)
  assert.equal((await second.parts.blobs.list()).length, archives.length)
  assert.equal(existsSync(join(dataDir, 'snapshots', '.staging')), false)
  const sample = await second.request('GET', '/v1/dataset/places/sample/json')
  assert.equal(sample.status, 200)
})

test('a start does not sweep away what another process is publishing', async (t) => {
  const dataDir = temporaryFolder(t)
  const file = join(temporaryFolder(t), 'many.geojson')
  writeFileSync(file, points(60_000))
  const child = spawn(
    process.execPath,
    [...testedProgramArguments(), 'publish', file, '--table', 'places', '--data-dir', dataDir, '--json'],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  )
  const exit = once(child, 'exit')
  const staging = join(dataDir, 'snapshots', '.staging')
  while (!existsSync(staging) || readdirSync(staging).length === 0) await sleep(2)
  const service = await openTestServer(t, { dataDir })
  assert.deepEqual(await exit, [0, null])
  assert.equal((await service.request('GET', '/v1/dataset/places')).body.rows, 60_000)
})
