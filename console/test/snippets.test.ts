import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { testedProgramArguments } from '../../scripts/program/tested-program.ts'
import { needs } from '../../scripts/test-run/needs.ts'
import { embedQuery, type Snippet, snippetsFor } from '../src/datasets/snippet-texts.ts'
import { variableName } from '../src/datasets/variable-name.ts'
import { parcelsGeojson } from './parcels.ts'
import { startServer } from './test-console.ts'

needs('python', 'gdal', 'tools', 'processes')

const root = join(import.meta.dirname, '..', '..')
const python = process.env['WAYLEAVE_TEST_PYTHON'] ?? 'python3'
const FILTER = "area >= 63 AND owner <> 'O''Brien'"

/** The command line of DuckDB is not a package of Debian; this one runs the same SQL in the same engine. */
const DUCKDB = `#!/bin/sh
exec '${python}' -c '
import sys, duckdb
database, _, sql = sys.argv[1:4]
print(duckdb.connect(database).execute(sql).fetchall())
' "$@"
`

test('every snippet runs as copied and returns all rows, or those that match the filter', async (t) => {
  const { folder, secret, snippetsOf, run } = await startService(t)
  const counted = {
    geojson: (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8')).features.length,
    csv: (file: string) => readFileSync(join(folder, file), 'utf8').trim().split('\r\n').length - 1,
    gpkg: (file: string) => Number(/Feature Count: (\d+)/.exec(run('ogrinfo', ['-so', '-al', file]))?.[1]),
    duckdb: (file: string, table: string) => {
      const code = `import duckdb, sys; print(duckdb.connect(sys.argv[1]).table(sys.argv[2]).shape[0])`
      return Number(run(python, ['-c', code, file, table]))
    },
  }
  const cases = [
    ['parcels', '', 12],
    ['parcels', FILTER, 6],
    ['rents', FILTER, 6],
  ] as const
  // Before the programs run: this process notices nothing meanwhile, not even that the server closes a connection.
  const codes = await Promise.all(cases.map(([table, filter]) => snippetsOf(table, filter)))
  for (const [i, [table, filter, rows]] of cases.entries()) {
    const snippets = codes[i]!
    const code = (language: string) => snippets[language]!.code
    const about = `${table} ${filter}`

    run('sh', ['-c', code('curl')])
    const isSpatial = table === 'parcels'
    assert.equal(isSpatial ? counted.geojson('parcels.geojson') : counted.csv('rents.csv'), rows, about)

    const frame = run(python, ['-c', `${code('python')}\nprint("rows:", len(${table}))`])
    assert.match(frame, new RegExp(`rows: ${rows}\\n`), about)

    writeFileSync(join(folder, 'snippet.mjs'), code('javascript'))
    const lines = run(process.execPath, ['--conditions=wayleave-source', 'snippet.mjs'])
    assert.equal(lines.match(/owner: 'Owner \d+'/g)?.length, rows, about)

    run('sh', ['-c', code('duckdb')])
    assert.equal(counted.duckdb(`${table}.duckdb`, table), rows, about)

    const counting = `cat("rows:", nrow(${table}), "\\n")`
    assert.match(run('Rscript', ['-e', `${code('r')}\n${counting}`]), new RegExp(`rows: ${rows} `), about)

    if (!isSpatial) continue
    rmSync(join(folder, 'parcels.gpkg'), { force: true })
    run('sh', ['-c', code('gdal')])
    assert.equal(counted.gpkg('parcels.gpkg'), rows, about)
    if (filter === '') continue
    const text = run('ogrinfo', ['-so', '-al', qgisLayer(snippets['qgis']!)], {
      GDAL_HTTP_USERPWD: `${secret}:`,
    })
    assert.match(text, new RegExp(`Feature Count: ${rows}\\n`))
  }
})

test('variables are named after the dataset, except for words that a language needs', () => {
  assert.equal(variableName('earthquakes', 'python'), 'earthquakes')
  assert.equal(variableName('class', 'python'), 'class_rows')
  assert.equal(variableName('new', 'javascript'), 'new_rows')
  assert.equal(variableName('next', 'r'), 'next_rows')
  assert.equal(variableName('next', 'python'), 'next')
})

test('the code for Python and JavaScript names the packages that this service offers', () => {
  const dataset = { table: 'parcels', title: 'Parcels', bbox: [0, 0, 1, 1], sample: null }
  const snippets = snippetsFor(dataset as never, 'https://data.example.org')
  const { version } = JSON.parse(readFileSync(join(root, 'server', 'package.json'), 'utf8'))
  const clients = 'https://data.example.org/clients'
  assert.ok(
    snippets['python']!.code.includes(`"wayleave[geo] @ ${clients}/wayleave-${version}-py3-none-any.whl"`),
  )
  assert.ok(snippets['javascript']!.code.includes(`npm install ${clients}/wayleave-client-${version}.tgz\n`))
})

test('the map for other sites is offered for datasets whose sample is public', () => {
  const dataset = { table: 'parcels', title: 'Our "own"', bbox: [0, 0, 1, 1], sample: 'https://…' }
  const codeOf = (more: object) =>
    snippetsFor({ ...dataset, ...more } as never, 'https://data.example.org', '', 'view=1,2,3')['embed']?.code
  assert.match(
    codeOf({})!,
    /^<iframe src="https:\/\/data\.example\.org\/embed\/parcels\?view=1,2,3" title="Our &quot;own&quot;"/,
  )
  assert.equal(codeOf({ sample: null }), undefined)
  assert.equal(codeOf({ bbox: null }), undefined)
})

/** The layer in code for QGIS's Python console, whose credentials are those of the environment. */
function qgisLayer({ code }: Snippet): string {
  assert.match(code, /os\.environ\['WAYLEAVE_API_KEY'\]/)
  return /QgsVectorLayer\("(.*?)", /.exec(code)![1]!
}

async function startService(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-snippet-'))
  let stop = async () => {}
  t.after(async () => {
    await stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const dataDir = join(folder, 'data')
  const command = (...args: string[]) => {
    return execFileSync(
      process.execPath,
      [...testedProgramArguments(), ...args, '--json', '--data-dir', dataDir],
      {
        encoding: 'utf8',
      },
    )
  }
  writeFileSync(join(folder, 'source.geojson'), parcelsGeojson(12))
  command('publish', join(folder, 'source.geojson'), '--table', 'parcels')
  command('publish', join(folder, 'source.geojson'), '--table', 'rents', '--no-geometry')
  const args = ['key', 'create', '--platform', '--name', 'test', '--permissions', 'read']
  const { secret } = JSON.parse(command(...args))
  const server = await startServer(dataDir)
  stop = server.stop

  mkdirSync(join(folder, 'node_modules', '@wayleave'), { recursive: true })
  symlinkSync(join(root, 'client-js'), join(folder, 'node_modules', '@wayleave', 'client'))
  const programs = join(folder, 'programs')
  mkdirSync(programs)
  writeFileSync(join(programs, 'duckdb'), DUCKDB)
  chmodSync(join(programs, 'duckdb'), 0o755)
  const environment = {
    ...process.env,
    PATH: `${programs}${delimiter}${process.env['PATH']}`,
    PYTHONPATH: join(root, 'client-python', 'src'),
    WAYLEAVE_API_KEY: secret,
  }
  const run = (program: string, args: string[], more: Record<string, string> = {}) => {
    const options = { cwd: folder, encoding: 'utf8', env: { ...environment, ...more } } as const
    const { stdout, stderr, status } = spawnSync(program, args, options)
    assert.equal(status, 0, `${program}: ${stderr}`)
    assert.doesNotMatch(stderr, /error/i)
    return stdout
  }
  const snippetsOf = async (name: string, filter: string) => {
    const dataset = await (await fetch(`${server.url}/v1/dataset/${name}`)).json()
    return snippetsFor(dataset, server.url, filter)
  }
  return { folder, secret, snippetsOf, run }
}

test('the frame gets the look that it may show, and for an open dataset all of it with the filter', () => {
  const columns = [
    { name: 'magnitude', type: 'number', nullable: false },
    { name: 'kind', type: 'text', nullable: false },
  ] as const
  const look = {
    draw: 'heat',
    ramp: '-viridis',
    opacity: '0.5',
    label: 'kind',
    classing: '2,4',
    size: 'magnitude',
  }
  const query = (color: string, visibility: 'open' | 'public' = 'public') => {
    const address = new URLSearchParams({
      tab: 'code',
      view: '8,47,5',
      color,
      ...look,
      filter: 'magnitude > 5',
    })
    return Object.fromEntries(new URLSearchParams(embedQuery({ columns: [...columns], visibility }, address)))
  }
  const ofSample = { view: '8,47,5', draw: 'heat', ramp: '-viridis', opacity: '0.5', label: 'kind' }
  assert.deepEqual(query('kind'), { ...ofSample, color: 'kind' })
  assert.deepEqual(query('magnitude'), { ...ofSample, color: '' })
  const all = { view: '8,47,5', ...look, filter: 'magnitude > 5' }
  assert.deepEqual(query('magnitude', 'open'), { ...all, color: 'magnitude' })
})
