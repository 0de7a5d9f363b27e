import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { prepareDemo } from './demo.ts'
import { readConfig } from './settings/config.ts'
import { openTestServer, temporaryFolder } from './testing/test-server.ts'

const run = promisify(execFile)
const REPOSITORY = join(import.meta.dirname, '..', '..')

const EXAMPLE_URL = 'http://127.0.0.1:8080'

/** The code of a section of a document, in one language. */
function codeBlocks(document: string, heading: string, language: string): string {
  const text = readFileSync(join(REPOSITORY, 'docs', document), 'utf8')
  const section = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`))!
  const blocks = [...section.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
  return blocks.flatMap(([, name, code]) => (name === language ? [code] : [])).join('\n')
}

const PYTHON = `
import json, sys
import pyogrio, wayleave
url, key, tables = sys.argv[1], sys.argv[2], sys.argv[3].split(",")
client = wayleave.Client(key, url)

print(json.dumps({table: {
    **({} if table == "places" else {"pyogrio": len(pyogrio.read_dataframe(f"OAPIF:{url}/v1/ogc", layer=table))}),
    "the Python client": sum(1 for _ in client.items(table).features()),
} for table in tables}))
`

const JAVASCRIPT = `
import { Wayleave } from ${JSON.stringify(join(REPOSITORY, 'client-js', 'src', 'index.ts'))}
const [url, key, tables] = process.argv.slice(1)
const wayleave = new Wayleave({ apiKey: key, baseUrl: url })
const counts = {}
for (const table of tables.split(',')) {
  counts[table] = 0
  for await (const _ of wayleave.items(table)) counts[table]++
}
console.log(JSON.stringify(counts))
`

test('every documented client reads the four demo datasets whole, with the default limits', async (t) => {
  const python = process.env['WAYLEAVE_TEST_PYTHON']
  if (!python) throw new Error('WAYLEAVE_TEST_PYTHON is not set: run the tests with npm test.')
  const { keyRate, keyBurst } = readConfig({ environment: {}, file: null })
  const service = await openTestServer(t, { settings: { keyRate, keyBurst } })
  const { secret: key } = await prepareDemo(service.parts, () => {})
  const datasets = await service.parts.catalog.all()
  const rows = Object.fromEntries(datasets.map(({ table, manifest }) => [table, manifest.rows]))
  assert.equal(datasets.length, 4)
  const tables = datasets.map(({ table }) => table)
  const cwd = temporaryFolder(t)
  const env = {
    ...process.env,
    GDAL_HTTP_USERPWD: `${key}:`,
    PYTHONPATH: join(REPOSITORY, 'client-python', 'src'),
  }
  const options = { cwd, env, maxBuffer: 1 << 28 }
  const args = [service.url, key, tables.join()]
  const inDocs = (document: string, heading: string, language: string) =>
    codeBlocks(document, heading, language).replaceAll(EXAMPLE_URL, service.url).replaceAll('YOUR_KEY', key)
  const byGdal = async (table: string) => {
    const source = ['-oo', 'PAGE_SIZE=10000', `OAPIF:${service.url}/v1/ogc`, table]
    const { stdout } = await run('ogr2ogr', ['-f', 'GeoJSONSeq', '/vsistdout/', ...source], options)
    assert.equal(stdout.trimEnd().split('\n').length, rows[table], `${table} by GDAL`)
  }
  // The largest dataset is read as the documentation says.
  const documented = async () => {
    await run('bash', ['-ec', inDocs('ogc.md', 'GDAL', 'sh')], options)
    for (const [file, layer] of [
      ['places.gpkg', 'places'],
      ['strong.gpkg', ''],
    ] as const) {
      const { stdout } = await run('ogrinfo', ['-ro', '-so', '-al', file], options)
      const count = Number(/Feature Count: (\d+)/.exec(stdout)![1])
      assert.ok(layer === '' ? count > 0 : count === rows[layer], `${file} has ${count} features`)
    }
    const inPlace = await run('bash', ['-ec', inDocs('downloads.md', 'In place', 'sh')], options)
    const counts = [...inPlace.stdout.matchAll(/Feature Count: (\d+)/g)].map(([, count]) => Number(count))
    assert.deepEqual(counts, [rows['places'], rows['places'], rows['places'], rows['places']])
    const program = `${inDocs('ogc.md', 'pyogrio and geopandas', 'python')}\nprint(len(places), len(page))`
    const [all, page] = (await run(python, ['-c', program], options)).stdout.split(' ').map(Number)
    assert.equal(all, rows['places'], 'places by geopandas')
    assert.ok(page! > 0 && page! < 10_000)
  }
  // At once, to save time: together they make fewer requests than one key may.
  const [inPython, inNode] = await Promise.all([
    run(python, ['-c', PYTHON, ...args], options),
    run(process.execPath, ['--input-type=module', '-e', JAVASCRIPT, ...args], options),
    documented(),
    ...tables.filter((table) => table !== 'places').map(byGdal),
  ])
  for (const [table, counts] of Object.entries<Record<string, number>>(JSON.parse(inPython.stdout))) {
    for (const [client, count] of Object.entries(counts)) {
      assert.equal(count, rows[table], `${table} by ${client}`)
    }
  }
  assert.deepEqual(JSON.parse(inNode.stdout), rows)
})
