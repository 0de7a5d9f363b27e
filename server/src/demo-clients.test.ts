import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { readConfig } from './config.ts'
import { prepareDemo } from './demo.ts'
import { openTestServer, temporaryFolder } from './testing/test-server.ts'

const run = promisify(execFile)
const REPOSITORY = join(import.meta.dirname, '..', '..')

const PYTHON = `
import json, sys
import pyogrio, wayleave
from owslib.ogcapi.features import Features
url, key, tables = sys.argv[1], sys.argv[2], sys.argv[3].split(",")
client = wayleave.Client(key, url)
api = Features(url + "/v1/ogc", headers={"X-API-Key": key})

def by_owslib(table):
    count, cursor = 0, {}
    while True:
        page = api.collection_items(table, **cursor)
        count += page["numberReturned"]
        following = [link["href"] for link in page["links"] if link["rel"] == "next"]
        if not following:
            return count
        cursor = {"cursor": following[0].split("cursor=")[1].split("&")[0]}

print(json.dumps({table: {
    "pyogrio": len(pyogrio.read_dataframe(f"OAPIF:{url}/v1/ogc", layer=table)),
    "items of the Python client": sum(1 for _ in client.items(table).features()),
    "read of the Python client": len(client.read_table(table)),
    "OWSLib": by_owslib(table),
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
  const inPython = await run(python, ['-c', PYTHON, ...args], options)
  for (const [table, counts] of Object.entries<Record<string, number>>(JSON.parse(inPython.stdout))) {
    for (const [client, count] of Object.entries(counts))
      assert.equal(count, rows[table], `${table} by ${client}`)
  }
  const inNode = await run(process.execPath, ['--input-type=module', '-e', JAVASCRIPT, ...args], options)
  assert.deepEqual(JSON.parse(inNode.stdout), rows)
  for (const table of tables) {
    const source = ['-oo', 'PAGE_SIZE=10000', `OAPIF:${service.url}/v1/ogc`, table]
    const { stdout } = await run('ogr2ogr', ['-f', 'GeoJSONSeq', '/vsistdout/', ...source], options)
    assert.equal(stdout.trimEnd().split('\n').length, rows[table], `${table} by GDAL`)
  }
})
