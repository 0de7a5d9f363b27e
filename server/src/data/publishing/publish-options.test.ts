import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { testedProgramArguments } from '../../../../scripts/program/tested-program.ts'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { operator } from '../../base/events/events.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { openTestServer, temporaryFolder } from '../../testing/test-server.ts'
import { ColumnTypesError, parseColumnTypes } from './column-types.ts'

needs('processes')

const SHP = '/usr/lib/R/site-library/sf/shape/nc.shp'

test('column types are written as pairs, whose names may contain commas', () => {
  assert.deepEqual(parseColumnTypes('zip=text, a,b=date\nx=y=number'), {
    zip: 'text',
    'a,b': 'date',
    'x=y': 'number',
  })
  assert.throws(() => parseColumnTypes('zip=txt'), ColumnTypesError)
})

test('the command takes a dry run, standard input, types, and lists every problem as JSON', async (t) => {
  const dataDir = temporaryFolder(t)
  const place = { dataDir, databaseUrl: null }
  const file = join(temporaryFolder(t), 'a.csv')
  writeFileSync(file, 'zip,x,y\n1234,1,2\n')
  const choice = ['--longitude', 'x', '--latitude', 'y', '--type', 'zip=text']
  const dry = await runCommand(place, 'publish', file, '--table', 'a', ...choice, '--dry-run', '--json')
  assert.equal(dry.code, 0, dry.stderr)
  const report = dry.json as { version: null; columns: unknown; dryRun: boolean; urls?: unknown }
  assert.deepEqual([report.version, report.dryRun, report.urls], [null, true, undefined])
  assert.deepEqual(report.columns, [{ name: 'zip', type: 'text', nullable: false }])
  assert.deepEqual((await runCommand(place, 'datasets', '--json')).json, { data: [] })
  writeFileSync(file, 'Title\nname;area\n;km²\nx;1\ny;2\n')
  const titled = ['--skip-lines', '1', '--header-lines', '2', '--dry-run', '--json']
  const joined = await runCommand(place, 'publish', file, '--table', 'a', ...titled)
  const { columns } = joined.json as { columns: { name: string }[] }
  assert.deepEqual(
    columns.map(({ name }) => name),
    ['name', 'area km²'],
  )
  const wrong = await runCommand(place, 'publish', file, '--table', 'a', '--header-lines', '0')
  assert.match(wrong.stderr, /It is a whole number from 1 to 10\./)
  writeFileSync(file, `a,lon,lat\n${'1,x,2\n'.repeat(25)}1,1,2\n1,1,3\n1,1,4\n${'1,5,6\n'.repeat(100)}`)
  const bad = await runCommand(place, 'publish', file, '--table', 'a', '--json')
  assert.equal((bad.json as { problems: unknown[] }).problems.length, 25)
  const layered = await runCommand(place, 'publish', file, '--table', 'a', '--layer', 'b')
  assert.match(layered.stderr, /is CSV and has no layers, so --layer cannot choose one/)
  const piped = spawnSync(
    process.execPath,
    [
      ...testedProgramArguments(),
      'publish',
      '-',
      '--format',
      'csv',
      '--no-header',
      '--table',
      'b',
      '--data-dir',
      dataDir,
      '--json',
    ],
    {
      input: '1;2\n3;4\n',
      encoding: 'utf8',
    },
  )
  assert.equal(piped.status, 0, piped.stderr)
  assert.deepEqual([JSON.parse(piped.stdout).rows, JSON.parse(piped.stdout).file], [2, 'standard input'])
})

test('over HTTP: the same options, a dry run, a lone .shp refused, and the command prints the server’s address', async (t) => {
  const service = await openTestServer(t, { database: 'sqlite' })
  const { secret: key } = await service.parts.keys.createPlatform(operator, {
    name: 'P',
    permissions: ['read', 'write'],
  })
  const publish = async (query: string, body: string | Uint8Array<ArrayBuffer>) => {
    const response = await fetch(`${service.url}/v1/dataset/${query}`, {
      method: 'PUT',
      body,
      headers: { 'x-api-key': key, 'content-type': 'application/octet-stream' },
    })
    // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape.
    const sent = (await response.json()) as any
    if (response.status !== 202) return sent
    for (;;) {
      const { body: job } = await service.request('GET', `/v1/jobs/${sent.id}`, { key })
      if (job.state === 'done' || job.state === 'failed') return job
      await sleep(20)
    }
  }
  const dry = await publish(
    'a?longitude=x&latitude=y&types=zip%3Dtext&dryRun=true&filename=a.csv',
    'zip,x,y\n1,2,3\n',
  )
  assert.deepEqual(
    [dry.state, dry.report.version, dry.report.geometryType],
    ['done', null, 'Point'],
    JSON.stringify(dry),
  )
  const titled = await publish(
    'a?skipLines=1&headerLines=2&dryRun=true&filename=a.csv',
    'Title\nname;area\n;km²\nx;1\ny;2\n',
  )
  assert.deepEqual(
    titled.report.columns.map(({ name, type }: { name: string; type: string }) => [name, type]),
    [['name', 'text'], ['area km²', 'integer']], // biome-ignore format: one table
  )
  assert.equal((await publish('a?headerLines=0', 'a,b\n1,2\n')).status, 400)
  assert.equal((await service.request('GET', '/v1/dataset/a')).status, 404)
  assert.equal((await publish('a?types=zip%3Dtxt', 'a,b\n1,2\n')).status, 400)
  const lone = await publish('nc?filename=nc.shp', new Uint8Array(readFileSync(SHP)))
  assert.match(
    lone.problem.detail,
    /^nc\.shp came without the \.dbf, \.prj and other files .* Send a zip of them all\.$/,
  )
  const file = join(temporaryFolder(t), 'b.csv')
  writeFileSync(file, 'a,b\n1,2\n')
  const place = { dataDir: service.parts.config.dataDir, databaseUrl: null }
  const printed = await runCommand(place, 'publish', file, '--table', 'b', '--json')
  const { urls } = printed.json as { urls: { dataset: string } }
  assert.equal(urls.dataset, `${service.url}/v1/dataset/b`)
})
