import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { build } from 'rolldown'
import { needs } from '../../scripts/test-run/needs.ts'
import { closeBrowser, inBrowser } from './test-browser.ts'
import { nodeOf } from './test-nodes.ts'
import { points, TestServer } from './test-server.ts'

needs('chromium', 'processes')

const root = join(import.meta.dirname, '..')
const server = new TestServer()
const folder = mkdtempSync(join(tmpdir(), 'wayleave-project-'))
/** The folder that the documented commands create. */
const project = join(folder, 'my-project')
const installed = join(project, 'node_modules/@wayleave/client')
const manifests = ['../package.json', '../package-lock.json', 'package.json'].map((file) => join(root, file))
const readManifests = () => manifests.map((file) => readFileSync(file, 'utf8'))
const manifestsBefore = readManifests()
let environment: NodeJS.ProcessEnv

const documents = ['README.md', '../docs/javascript.md']
const blocks = documents.flatMap((name) => {
  const text = readFileSync(join(root, name), 'utf8')
  const fences = text.matchAll(
    /(?:^Save this as `(?<file>[^`]+)`:\n\n)?^```(?<kind>.+?)\n(?<source>.*?)^```$/gms,
  )
  return [...fences].map(({ groups }) => ({
    name,
    ...(groups as { file?: string; kind: string; source: string }),
  }))
})

before(async () => {
  execFileSync(process.execPath, [join(root, '../scripts/clients/main.ts')], { stdio: 'pipe' })
  await server.publish('places', points(1500))
  await server.start()
  // The package is installed once, from the running service, with the commands of the documents.
  const install = shellBlocks('README.md')[0]!.replaceAll('http://127.0.0.1:8080', server.url)
  const env = { ...process.env, npm_config_audit: 'false', npm_config_fund: 'false' }
  execFileSync('sh', ['-euc', install], { cwd: folder, env, stdio: 'pipe', timeout: 300_000 })
  const key = await server.platformKey()
  environment = { ...process.env, WAYLEAVE_API_KEY: key, WAYLEAVE_BASE_URL: server.url }
  await server.tilesOf('places', key)
})
after(async () => {
  await closeBrowser()
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

function start(program: string, args: string[], env = environment) {
  return spawnSync(program, args, { cwd: project, env, encoding: 'utf8', timeout: 300_000 })
}

function run(node: string, file: string, source: string): string {
  writeFileSync(join(project, file), source)
  const { status, stdout, stderr } = start(node, [file])
  assert.equal(status, 0, `${file}: ${stderr}`)
  return stdout.trim()
}

const tour = `async function tour({ Wayleave, NotFoundError }) {
  const client = new Wayleave({ apiKey: process.env.WAYLEAVE_API_KEY, baseUrl: process.env.WAYLEAVE_BASE_URL })
  let count = 0
  for await (const feature of client.items('places', { limit: 700 })) count++
  const csv = await client.download('places', 'csv')
  let streamed = 0
  await client.downloadTo('places', 'csv', new WritableStream({ write: (chunk) => { streamed += chunk.length } }))
  const error = await client.dataset('nothing').catch((error) => error)
  const aborted = await client.datasets({ signal: AbortSignal.abort() }).catch((error) => error.name)
  const facts = [count, Buffer.isBuffer(csv), streamed === csv.length, error instanceof NotFoundError, aborted]
  console.log(JSON.stringify([...facts, (await client.sample('places')).length]))
}`

for (const major of [18, 20, 24]) {
  test(`the packed package works in Node ${major}, as ESM and as CommonJS`, (t) => {
    const node = nodeOf(major)
    if (node === null) return t.skip(`Node ${major} cannot be had here`)
    t.diagnostic(`ran in Node ${execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()}`)
    const expected = '[1500,true,true,true,"AbortError",100]'
    const esm = `import * as all from '@wayleave/client'\n${tour}\nawait tour(all)`
    assert.equal(run(node, 'tour.mjs', esm), expected)
    assert.equal(run(node, 'tour.cjs', `${tour}\ntour(require('@wayleave/client'))`), expected)
  })
}

test('the package holds what was built and the license, and depends on nothing', () => {
  assert.deepEqual(readdirSync(installed).sort(), ['LICENSE', 'README.md', 'dist', 'package.json'])
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  assert.deepEqual([dependencies, peerDependencies], [undefined, undefined])
})

test('all files are readable, and have source maps with the sources inside', () => {
  const scripts = globSync('dist/**/*.js', { cwd: installed })
  assert.ok(scripts.length > 15)
  for (const file of scripts) {
    const text = readFileSync(join(installed, file), 'utf8')
    // The bundler writes the list of exports on one line.
    const lines = text.split('\n').filter((line) => !line.startsWith('export {'))
    for (const line of lines) assert.ok(line.length < 250, `${file}: ${line}`)
    assert.match(text, /\n\/\/# sourceMappingURL=\S+\.js\.map\s*$/, file)
    const map = JSON.parse(readFileSync(join(installed, `${file}.map`), 'utf8'))
    assert.ok(map.sources.length > 0 && map.sourcesContent.length === map.sources.length, file)
  }
  const errors = readFileSync(join(installed, 'dist/esm/errors.js'), 'utf8')
  assert.match(errors, /\/\*\* 401: [^\n]+ \*\/\nexport class AuthenticationError extends APIStatusError \{/)
})

const failing = "new Wayleave({ apiKey: 'svc_live_nonsense' }).download('places', 'csv')"
const entries = {
  'uncaught.mjs': `import { Wayleave } from '@wayleave/client'\nawait ${failing}`,
  'uncaught.cjs': `const { Wayleave } = require('@wayleave/client')\n${failing}`,
  'uncaught-module.mjs': `import { Wayleave } from '@wayleave/client/client.js'\nawait ${failing}`,
}
for (const [file, source] of Object.entries(entries)) {
  test(`an uncaught error prints its real class and a stack that people can read: ${file}`, () => {
    writeFileSync(join(project, file), source)
    const { status, stderr } = start(process.execPath, [file])
    assert.equal(status, 1)
    assert.match(stderr, /^AuthenticationError: 401 key-invalid: The API key is unknown/m)
    assert.match(stderr, /^ {4}at send \(\S+\.js:\d+:\d+\)$/m)
    assert.ok(stderr.split('\n').length < 40 && stderr.split('\n').every((line) => line.length < 300), stderr)
    assert.doesNotMatch(stderr, /svc_live_nonsense|undefined/)
    const mapped = start(process.execPath, ['--enable-source-maps', file]).stderr
    assert.match(mapped, /at send \(\S*src\/transport\.ts:\d+:\d+\)/)
  })
}

test('without options the client reads the environment, or says what is missing', () => {
  const env = Object.fromEntries(
    Object.entries(environment).filter(([name]) => !name.startsWith('WAYLEAVE_')),
  )
  const program = `import { Wayleave } from '@wayleave/client'
    const wayleave = new Wayleave()
    console.log((await wayleave.sample('places')).length)
    console.log((await wayleave.items('places', { limit: 1 })).features.length)`
  assert.equal(run(process.execPath, 'default.mjs', program), '100\n1')
  const without = (...names: string[]) =>
    start(process.execPath, ['default.mjs'], {
      ...env,
      ...Object.fromEntries(names.map((name) => [name, environment[name]])),
    })
  assert.match(without().stderr, /^WayleaveError: There is no base URL.*WAYLEAVE_BASE_URL.*WAYLEAVE_API_KEY/m)
  const keyless = without('WAYLEAVE_BASE_URL')
  assert.equal(keyless.stdout, '100\n')
  assert.match(keyless.stderr, /^AuthenticationError: 401 key-missing: .*WAYLEAVE_API_KEY/m)
  assert.match(keyless.stderr, /default\.mjs:4/)
})

test('it is small: 14 KB gzipped as one readable module, 10 KB minified, a part of it a fraction', async () => {
  const gzipped = async (contents: string, minify: boolean) => {
    const input = join(project, 'bundled.mjs')
    writeFileSync(input, contents)
    const { output } = await build({
      input,
      platform: 'neutral',
      output: { format: 'esm', minify },
      write: false,
    })
    return gzipSync(output[0].code).length
  }
  const module = gzipSync(readFileSync(join(installed, 'dist/client.js'))).length
  assert.ok(module < 14_500, `${module} bytes`)
  const whole = await gzipped("export * from '@wayleave/client'", true)
  assert.ok(whole < 10_000, `${whole} bytes`)
  const part = await gzipped("import { NotFoundError } from '@wayleave/client'\nNotFoundError", true)
  assert.ok(part < 1700, `${part} bytes`)
})

/** The output of tsc for files in the project; empty if it finds no error. */
function compile(...args: string[]): string {
  const tsc = join(createRequire(import.meta.url).resolve('typescript/package.json'), '../bin/tsc')
  const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022']
  // The declarations of TypeScript itself need no check.
  const lib = ['--lib', 'es2022,dom,dom.iterable,dom.asynciterable', '--skipDefaultLibCheck']
  return start(process.execPath, [tsc, ...flags, ...lib, ...args]).stdout
}

test('its types hold for ESM and CommonJS, with and without those of Node', () => {
  const use = (data: string, length: string) => `
    const client = new Wayleave({ apiKey: () => 'k', baseUrl: 'http://localhost', timeout: 5 })
    export const file: Promise<${data}> = client.download('places', 'csv')
    export const blob: Promise<Blob> = client.download('places', 'csv', { as: 'blob' })
    export async function first(): Promise<number | undefined> {
      for await (const feature of client.items<{ rank: number }>('places', { bbox: [1, 2, 3, 4] })) {
        return feature.properties.rank
      }
      const page = await client.items('places')
      // @ts-expect-error: there is no such option.
      await client.items('places', { size: 1 })
      // @ts-expect-error: nor one of the client.
      new Wayleave({ apikey: 'k' })
      const { data, response } = await client.download('places', 'csv').withResponse()
      const costs: number = response.credits.charged + (response.credits.remaining ?? 0) + data.${length}
      const rows: Record<string, unknown>[] = await new Wayleave().sample('places')
      const left: number | undefined = page.response.rateLimit?.remaining
      return (await page.next())?.numberMatched ?? costs + rows.length + (left ?? 0)
    }
    export const status = (error: unknown) => (error instanceof NotFoundError ? error.status : undefined)`
  const head = "import { NotFoundError, Wayleave } from '@wayleave/client'"
  writeFileSync(join(project, 'page.mts'), head + use('Blob', 'size'))
  writeFileSync(join(project, 'node.mts'), head + use('Buffer', 'length'))
  writeFileSync(
    join(project, 'node.cts'),
    `import wayleave = require('@wayleave/client')\nimport Wayleave = wayleave.Wayleave\nimport NotFoundError = wayleave.NotFoundError${use('Buffer', 'length')}`,
  )
  const typeRoots = join(root, '../node_modules/@types')
  assert.equal(compile('--types', '', 'page.mts'), '')
  assert.equal(compile('--typeRoots', typeRoots, '--types', 'node', 'node.mts', 'node.cts'), '')
})

test('the JavaScript examples of the documents are also valid as strict TypeScript', () => {
  const examples = blocks.filter(({ kind }) => kind === 'js')
  const files = examples.map(({ source }, index) => {
    const file = `example-${index}.mts`
    writeFileSync(join(project, file), source)
    return file
  })
  assert.ok(files.length >= 10)
  const typeRoots = join(root, '../node_modules/@types')
  assert.equal(compile('--typeRoots', typeRoots, '--types', 'node', ...files), '')
})

test('its types fit those of MapLibre', () => {
  symlinkSync(join(root, '../node_modules/maplibre-gl'), join(project, 'node_modules/maplibre-gl'))
  writeFileSync(
    join(project, 'map.mts'),
    `import { Map } from 'maplibre-gl'
    import { addItemsSource, type ItemsSource, Wayleave } from '@wayleave/client'
    const wayleave = new Wayleave()
    const map = new Map({ container: 'map', transformRequest: wayleave.transformRequest })
    export const source: ItemsSource = await addItemsSource(map, wayleave, 'places', { maxFeatures: 10 })
    map.addLayer({ id: 'places', type: 'circle', source: source.id })
    // @ts-expect-error: there is no such option.
    await addItemsSource(map, wayleave, 'places', { limit: 10 })`,
  )
  assert.equal(compile('--skipLibCheck', '--types', '', 'map.mts'), '')
})

test('it works in a page of a real browser, of another origin, and gives Blobs there', async () => {
  const source = `
    import { AuthenticationError, Wayleave } from '@wayleave/client'
    const options = { apiKey: ${JSON.stringify(environment['WAYLEAVE_API_KEY'])}, baseUrl: ${JSON.stringify(server.url)} }
    const client = new Wayleave(options)
    const page = await client.items('places', { limit: 10, bbox: [-180, -90, 180, 90] })
    let count = 0
    for await (const feature of client.items('places', { limit: 1000 })) count++
    const blob = await client.download('places', 'geojson')
    let total
    const chunks = []
    await client.downloadTo('places', 'geojson', new WritableStream({ write: (chunk) => void chunks.push(chunk) }), {
      onProgress: (progress) => { total = progress.total },
    })
    const streamed = await new Blob(chunks).text()
    const refused = await new Wayleave({ ...options, apiKey: 'nonsense' }).items('places').then(null, (error) => error)
    report({
      page: page.features.length,
      count,
      kind: Object.prototype.toString.call(blob),
      type: blob.type,
      features: JSON.parse(await blob.text()).features.length,
      same: streamed === await blob.text() && total === blob.size,
      refused: [refused instanceof AuthenticationError, refused.status, refused.code],
    })`
  assert.deepEqual(await inBrowser(join(installed, 'dist/client.js'), source), {
    page: 10,
    count: 1500,
    kind: '[object Blob]',
    type: 'application/geo+json',
    features: 1500,
    same: true,
    refused: [true, 401, 'key-invalid'],
  })
})

test('every JavaScript example of the documents runs, and prints no undefined', async (t) => {
  const examples = blocks.filter(({ kind }) => kind.startsWith('js'))
  assert.ok(examples.length >= 14)
  for (const [index, { name, kind, source }] of examples.entries()) {
    await t.test(`${name}, example ${index + 1}`, async () => {
      if (kind === 'js') {
        const output = run(process.execPath, 'example.mjs', source)
        assert.notEqual(output, '')
        assert.doesNotMatch(output, /undefined|null|NaN|\[object/)
        return
      }
      assert.equal(kind, 'js browser')
      const { WAYLEAVE_API_KEY: apiKey, WAYLEAVE_BASE_URL: baseUrl } = environment
      const stored = `Object.assign(sessionStorage, ${JSON.stringify({ apiKey, baseUrl })})`
      const isTiles = source.includes('.tiles(')
      const drawn = isTiles
        ? "(await map.once('idle')) && map.querySourceFeatures('places', { sourceLayer: 'places' })"
        : "(await map.getSource('places').getData()).features"
      const result = source.includes('maplibre-gl')
        ? `(${drawn}).length > 0 && map.getLayer('places').type`
        : "document.querySelector('a').href"
      // Imports are evaluated first, wherever they are in the module.
      const module = `${stored}\n${source}\nreport(${result})`
      assert.match(String(await inBrowser(join(installed, 'dist/client.js'), module)), /^(blob:|circle$)/)
    })
  }
})

/** The commands of a document, one text for each block. */
function shellBlocks(name: string): string[] {
  return blocks.filter((block) => block.name === name && block.kind === 'sh').map(({ source }) => source)
}

for (const name of documents) {
  test(`every command of ${name} runs from another folder, and changes nothing in the repository`, () => {
    const [install, ...others] = shellBlocks(name)
    const withoutName = (text: string) => text.replaceAll(/my-\w+/g, 'folder')
    assert.equal(
      withoutName(install!),
      withoutName(shellBlocks('README.md')[0]!),
      'these commands ran before',
    )
    const files = blocks.filter((block) => block.name === name && block.file)
    for (const { file, source } of files) writeFileSync(join(project, file!), source)
    const script = others
      .join('')
      .replaceAll('http://127.0.0.1:8080', server.url)
      .replaceAll('svc_live_…', environment['WAYLEAVE_API_KEY']!)
    assert.doesNotMatch(script, /8080|…/)
    const { WAYLEAVE_API_KEY: _key, WAYLEAVE_BASE_URL: _url, ...env } = environment
    const { status, stdout, stderr } = start('sh', ['-euc', script], env)
    assert.equal(status, 0, stderr)
    assert.match(stdout, /^places .*1500$/m)
    assert.doesNotMatch(stdout, /undefined/)
    assert.deepEqual(readManifests(), manifestsBefore)
  })
}
