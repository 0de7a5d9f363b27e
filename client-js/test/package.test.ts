import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { inBrowser } from './test-browser.ts'
import { nodeOf } from './test-nodes.ts'
import { points, TestServer } from './test-server.ts'

const root = join(import.meta.dirname, '..')
const server = new TestServer()
const project = mkdtempSync(join(tmpdir(), 'wayleave-project-'))
const installed = join(project, 'node_modules/@wayleave/client')
let environment: NodeJS.ProcessEnv

before(async () => {
  const npm = (...args: string[]) => execFileSync('npm', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' })
  const tarball = npm('pack', '--silent', '--pack-destination', project).trim().split('\n').at(-1)!
  writeFileSync(join(project, 'package.json'), '{ "private": true }')
  npm('install', '--prefix', project, '--offline', '--no-audit', '--no-fund', join(project, tarball))
  await server.publish('places', points(1500))
  await server.start()
  const key = await server.platformKey()
  environment = { ...process.env, WAYLEAVE_API_KEY: key, WAYLEAVE_BASE_URL: server.url }
})
after(async () => {
  await server.close()
  rmSync(project, { recursive: true, force: true })
})

function run(node: string, file: string, source: string): string {
  writeFileSync(join(project, file), source)
  const { status, stdout, stderr } = spawnSync(node, [file], {
    cwd: project,
    env: environment,
    encoding: 'utf8',
    timeout: 60_000,
  })
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

test('the package holds what was built and nothing else, and depends on nothing', () => {
  assert.deepEqual(readdirSync(installed).sort(), ['README.md', 'dist', 'package.json'])
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  assert.deepEqual([dependencies, peerDependencies], [undefined, undefined])
})

test('it is under 5 KB gzipped, and a part of it under a third of that', async () => {
  for (const format of ['esm', 'cjs']) {
    const size = gzipSync(readFileSync(join(installed, 'dist', format, 'index.js'))).length
    assert.ok(size < 5000, `${format} has ${size} bytes`)
  }
  const stdin = {
    contents: "import { NotFoundError } from '@wayleave/client'\nNotFoundError",
    resolveDir: project,
  }
  const shaken = await build({ stdin, bundle: true, format: 'esm', minify: true, write: false })
  const size = gzipSync(shaken.outputFiles[0]!.contents).length
  assert.ok(size < 5000 / 3, `${size} bytes`)
})

test('its types hold for ESM and CommonJS, with and without those of Node', () => {
  const use = (data: string) => `
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
      return (await page.next())?.numberMatched
    }
    export const status = (error: unknown) => (error instanceof NotFoundError ? error.status : undefined)`
  const head = "import { NotFoundError, Wayleave } from '@wayleave/client'"
  writeFileSync(join(project, 'page.mts'), head + use('Blob'))
  writeFileSync(join(project, 'node.mts'), head + use('Buffer'))
  writeFileSync(
    join(project, 'node.cts'),
    `import wayleave = require('@wayleave/client')\nimport Wayleave = wayleave.Wayleave\nimport NotFoundError = wayleave.NotFoundError${use('Buffer')}`,
  )
  const tsc = join(createRequire(import.meta.url).resolve('typescript/package.json'), '../bin/tsc')
  const flags = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2022',
    '--lib',
    'es2022,dom,dom.asynciterable',
  ]
  const typeRoots = join(root, '../node_modules/@types')
  const check = (...args: string[]) =>
    spawnSync(process.execPath, [tsc, ...flags, ...args], { cwd: project, encoding: 'utf8' })
  assert.equal(check('--types', '', 'page.mts').stdout, '')
  assert.equal(check('--typeRoots', typeRoots, '--types', 'node', 'node.mts', 'node.cts').stdout, '')
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
  assert.deepEqual(await inBrowser(join(installed, 'dist/esm/index.js'), source), {
    page: 10,
    count: 1500,
    kind: '[object Blob]',
    type: 'application/geo+json',
    features: 1500,
    same: true,
    refused: [true, 401, 'key-invalid'],
  })
})

test('every example of the README and of docs/javascript.md runs', async (t) => {
  const documents = ['README.md', '../docs/javascript.md'].map((name) =>
    readFileSync(join(root, name), 'utf8'),
  )
  const examples = [...documents.join('').matchAll(/^```js( browser)?\n(.*?)^```$/gms)]
  assert.ok(examples.length >= 9)
  for (const [index, [, browser, source]] of examples.entries()) {
    await t.test(`example ${index + 1}`, async () => {
      if (!browser) return void assert.notEqual(run(process.execPath, 'example.mjs', source!), '')
      const { WAYLEAVE_API_KEY: apiKey, WAYLEAVE_BASE_URL: baseUrl } = environment
      const stored = `Object.assign(sessionStorage, ${JSON.stringify({ apiKey, baseUrl })})`
      // An import stands before everything else, whatever its place.
      const module = `${stored}\n${source}\nreport(document.querySelector('a').href)`
      assert.match(String(await inBrowser(join(installed, 'dist/esm/index.js'), module)), /^blob:/)
    })
  }
})
