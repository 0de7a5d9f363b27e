import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { readConfig } from '../../base/settings/config.ts'
import { EXCERPT_STEP, publishDemoExcerpt } from '../../testing/demo-excerpt.ts'
import { type DocumentedExample, documentedExamples, pageText } from '../../testing/documented-examples.ts'
import { type Demo, EXAMPLE_URL, runExamples } from '../../testing/run-examples.ts'
import { openTestServer, temporaryFolder } from '../../testing/test-server.ts'
import { prepareDemo } from './demo.ts'

needs('python', 'gdal', 'tools')

const run = promisify(execFile)
const REPOSITORY = join(import.meta.dirname, '..', '..', '..', '..')

const examples = documentedExamples()

/** The code of a section of a document, in one language. */
function codeBlocks(document: string, heading: string, code: string): string {
  const isAsked = ({ page, section, language }: DocumentedExample) =>
    page === document && section === heading && language === code
  return examples
    .filter(isAsked)
    .map(({ code }) => code)
    .join('\n')
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

/** The languages of the examples that run here, by page. */
const RUN_HERE: Record<string, { languages: string[]; except?: RegExp }> = {
  // scripts/start-up.test.ts runs the first command.
  'getting-started.md': { languages: ['sh'], except: /^npm ci/ },
  'publish-in-five-minutes.md': { languages: ['sh'] },
  'publishing.md': { languages: ['sh'] },
  'cql2.md': { languages: ['sh'] },
  'gallery.md': { languages: ['sh', 'python', 'r'] },
  'downloads.md': { languages: ['sh'], except: /vsicurl/ },
  'ogc.md': { languages: ['sh'], except: /GDAL_HTTP_USERPWD/ },
}

/** The languages of the examples that other tests run or compare with what the program does. */
const RUN_ELSEWHERE: Record<string, string[]> = {
  // server/src/command/command.test.ts
  'command-line.md': ['sh'],
  'sources.md': ['sh'],
  // console/test/way-in.test.ts, server/src/site/documentation/documentation.test.ts
  'explorer.md': ['html', 'sh'],
  'gallery.md': ['html'],
  'ogc.md': ['html', 'json', 'python'],
  // client-js/test/map.test.ts
  'tiles.md': ['html', 'js', 'sh'],
  // server/src/accounts/keys/documented-keys.test.ts
  'keys-and-access.md': ['sh'],
  // server/src/accounts/webhooks/webhooks.test.ts
  'webhooks.md': ['js', 'python'],
  // client-js/test/package.test.ts
  'javascript.md': ['js', 'js browser', 'sh'],
  // client-python/tests/test_readme.py
  'python.md': ['python', 'sh'],
  // server/src/command/operating-page.test.ts, server/src/http/nginx.test.ts
  'operating.md': ['sh', 'nginx'],
  // server/src/site/documentation/documentation.test.ts
  'problems.md': ['json'],
  'publishing.md': ['json'],
  'settings.md': ['json'],
}

test('the demo data, read as the documentation says', async (t) => {
  const python = process.env['WAYLEAVE_TEST_PYTHON']
  if (!python) throw new Error('WAYLEAVE_TEST_PYTHON is not set: run the tests with npm test.')
  // The clients make fewer requests of less data, so that fewer are allowed at once.
  const { keyRate, keyBurst } = readConfig({ environment: {}, file: null })
  const settings = { keyRate, keyBurst: keyBurst! / EXCERPT_STEP }
  const service = await openTestServer(t, { settings })
  await publishDemoExcerpt(t, service)
  const { secret: key } = await prepareDemo(service.parts, () => {})
  const demo = { service, key, python }
  await t.test('every documented client reads all four datasets, with the default limits', (t) =>
    readWhole(t, demo),
  )
  // One after the other: some examples write the same files.
  for (const [name, { languages, except }] of Object.entries(RUN_HERE)) {
    const isRun = ({ page, language, code }: DocumentedExample) =>
      page === name && languages.includes(language) && !except?.test(code)
    const ownExamples = examples.filter(isRun)
    assert.ok(ownExamples.length > 0)
    await t.test(`the examples of ${name} work`, (t) => runExamples(t, demo, ownExamples))
  }
  await t.test('the filters on the page on CQL2 match features', () => matchFilters(demo))
})

async function readWhole(t: TestContext, { service, key, python }: Demo): Promise<void> {
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
  }
  // The documented program runs in the same interpreter, because importing geopandas takes a second.
  const documentedProgram = inDocs('ogc.md', 'pyogrio and geopandas', 'python')
  const program = `${PYTHON}\n${documentedProgram}\nprint(json.dumps([len(places), len(page)]))`
  // At once, to save time: together they make fewer requests than one key may.
  const [inPython, inNode] = await Promise.all([
    run(python, ['-c', program, ...args], options),
    run(process.execPath, ['--input-type=module', '-e', JAVASCRIPT, ...args], options),
    documented(),
    ...tables.filter((table) => table !== 'places').map(byGdal),
  ])
  const [countsOfTables, countsOfDocumented] = inPython.stdout.trimEnd().split('\n')
  for (const [table, counts] of Object.entries<Record<string, number>>(JSON.parse(countsOfTables!))) {
    for (const [client, count] of Object.entries(counts)) {
      assert.equal(count, rows[table], `${table} by ${client}`)
    }
  }
  const [all, page] = JSON.parse(countsOfDocumented!)
  assert.equal(all, rows['places'], 'places by geopandas')
  assert.ok(page > 0 && page < 10_000)
  assert.deepEqual(JSON.parse(inNode.stdout), rows)
}

test('every example of the documentation has a test that runs it', () => {
  for (const { page, language } of examples) {
    const languages = [...(RUN_HERE[page]?.languages ?? []), ...(RUN_ELSEWHERE[page] ?? [])]
    assert.ok(languages.includes(language), `${page} has an example in ${language}`)
  }
})

/** The filters in the tables of the page on CQL2; the head of their column is the dataset. */
async function matchFilters({ service, key }: Demo): Promise<void> {
  let table = ''
  let count = 0
  for (const line of pageText('cql2.md').split('\n')) {
    table = /^\| you want \| (\w+) \|$/.exec(line)?.[1] ?? table
    const filter = /^\|[^|]+\| `(.+)` \|$/.exec(line)?.[1]
    if (filter === undefined) continue
    const query = new URLSearchParams({ filter, limit: '1' })
    const { status, body } = await service.request('GET', `/v1/ogc/collections/${table}/items?${query}`, {
      key,
    })
    assert.equal(status, 200, `${filter}: ${body.detail}`)
    assert.ok(body.features.length > 0, `${filter} matches nothing`)
    count++
  }
  assert.ok(count > 15)
}
