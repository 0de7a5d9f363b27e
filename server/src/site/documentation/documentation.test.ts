import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { problems } from '../../base/problem.ts'
import { readConfig } from '../../base/settings/config.ts'
import { settings } from '../../base/settings/settings.ts'
import { aboutOf } from '../../http/about.ts'
import { documentedExamples } from '../../testing/documented-examples.ts'
import { points, publishText } from '../../testing/publish.ts'
import { signIn } from '../../testing/sign-in.ts'
import { openTestServer, temporaryFolder } from '../../testing/test-server.ts'
import { GROUPS } from '../reference/groups.ts'
import { Documentation } from './documentation.ts'
import { DocumentationPages } from './documentation-pages.ts'
import { generatedPages } from './generated-pages.ts'
import { PACKAGE_ASSETS } from './package-assets.ts'
import { PAGES } from './page-names.ts'

const root = new URL('../../../../', import.meta.url)
const docs = new URL('docs/', root)
const readDoc = (name: string) => readFileSync(new URL(name, docs), 'utf8')
const sources = readdirSync(new URL('server/src/', root), { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
)

test('the generated pages are what the tables say: run `npm run docs`', () => {
  for (const [name, make] of Object.entries(generatedPages)) assert.equal(readDoc(name), make(), name)
})

test('every page of docs/ is served, and every served page exists', () => {
  const files = readdirSync(docs).filter((name) => name.endsWith('.md'))
  assert.deepEqual(files.sort(), PAGES.map((name) => `${name}.md`).sort())
})

test('every setting that any page names exists', () => {
  const known = new Set<string>([
    ...Object.values(settings).map((row) => row.variable),
    'WAYLEAVE_CONFIG',
    // Read by the client libraries.
    'WAYLEAVE_API_KEY',
    'WAYLEAVE_CACHE_DIR',
  ])
  const design = readdirSync(new URL('design/', docs)).map((name) => `design/${name}`)
  const pages = [...PAGES.map((name) => `${name}.md`), ...design, '../README.md', '../ARCHITECTURE.md']
  for (const page of pages) {
    for (const [name] of readDoc(page).matchAll(/WAYLEAVE_[A-Z_]+[A-Z]/g))
      assert.ok(known.has(name), `${page} names ${name}`)
  }
})

test('every problem code is used, and every code that is used is in the table', () => {
  const code = sources
    .filter((name) => name !== 'problem.ts')
    .map((name) => readFileSync(new URL(`server/src/${name}`, root), 'utf8'))
    .join('\n')
  for (const name of Object.keys(problems))
    assert.ok(code.includes(`'${name}'`) || name === 'not-found', `${name} is never answered`)
})

test('settings, problems, schemas and notes on columns in the examples are valid', async (t) => {
  const codesOf = (page: string, language: string) =>
    documentedExamples().flatMap((one) => (one.page === page && one.language === language ? [one.code] : []))
  const codeOf = (page: string, language: string) => codesOf(page, language)[0]!
  const file = join(temporaryFolder(t), 'wayleave.json')
  writeFileSync(file, codeOf('settings.md', 'json'))
  assert.equal(readConfig({ environment: {}, file }).port, 8080)
  for (const line of codeOf('explorer.md', 'sh').trim().split('\n')) {
    const [name = '', address = ''] = line.split('=')
    assert.equal(readConfig({ environment: { [name]: address }, file: null }).basemap, address)
  }

  const service = await openTestServer(t, { settings: { admins: ['root@example.org'] } })
  await publishText(service, 'earthquakes', 'earthquakes.csv', 'depth,mag\n10,4.5\n')
  const { token } = await signIn(service, 'root@example.org')
  const [schema, notes] = codesOf('publishing.md', 'json')
  const columns = JSON.parse(notes!)
  const body = { columns }
  const described = await service.request('PATCH', '/v1/dataset/earthquakes', { token, body })
  assert.ok(described.status < 300, described.text)
  const { body: dataset } = await service.request('GET', '/v1/dataset/earthquakes')
  assert.equal(dataset.columns[0].unit, columns.depth.unit)

  const fixed = await service.request('PUT', '/v1/dataset/earthquakes/schema', {
    token,
    body: JSON.parse(schema!),
  })
  assert.equal(fixed.status, 204, fixed.text)

  await publishText(service, 'parcels', 'parcels.geojson', points(1))
  const key = { body: { name: 'Without add-ons', permissions: ['read'] }, token }
  const { secret } = (await service.request('POST', '/v1/api-keys/personal', key)).body
  const example = JSON.parse(codeOf('problems.md', 'json'))
  const problem = (await service.request('GET', example.instance, { key: secret })).body
  const { requestId: _, ...documented } = { ...example, type: `${service.url}/problems/${example.code}` }
  assert.deepEqual({ ...problem, ...documented }, problem)
  assert.deepEqual(Object.keys(problem).slice(0, 7).sort(), Object.keys(example).sort())
})

test('the index of the search is built once, whatever the Host header says, and is cached', async (t) => {
  const pages = new DocumentationPages(aboutOf(readConfig({ environment: {}, file: null })))
  assert.equal(await pages.searchIndex(), await pages.searchIndex())

  const service = await openTestServer(t)
  const read = (headers: Record<string, string>) => service.request('GET', '/docs/search.json', { headers })
  const first = await read({})
  const etag = first.headers.get('etag')!
  assert.deepEqual([first.status, first.headers.get('cache-control')], [200, 'public, max-age=3600'])
  const entry = { id: '/docs#', href: '/docs#', page: '', title: '', text: '' }
  assert.deepEqual(Object.keys(first.body[0]), Object.keys(entry))
  assert.equal((await read({ 'if-none-match': etag })).status, 304)
  const other = await read({ host: '127.0.0.1:1' })
  assert.deepEqual([other.headers.get('etag'), other.text === first.text], [etag, true])
})

test('a page is rendered once, and has the address of each request', async () => {
  const about = { ...aboutOf(readConfig({ environment: {}, file: null })), title: 'First title' }
  const pages = new DocumentationPages(about)
  const pageAt = async (base: string) => (await pages.page('getting-started', base))!.toString()
  const first = await pageAt('http://127.0.0.1:1')
  assert.match(first, /http:\/\/127\.0\.0\.1:1\//)
  // Only a page that is rendered again would have it.
  about.title = 'Second title'
  const second = await pageAt('https://data.example.org')
  assert.match(second, /https:\/\/data\.example\.org\//)
  assert.doesNotMatch(second, /127\.0\.0\.1|Second title/)
})

test('links between the pages lead somewhere', () => {
  const documentation = new Documentation(aboutOf(readConfig({ environment: {}, file: null })))
  for (const name of PAGES) {
    for (const [, href = ''] of documentation.page(name).matchAll(/href="(\/docs[^"#]*)(?:#[^"]*)?"/g)) {
      const target = href.replace(/^\/docs\/?/, '') || 'index'
      if (target === 'api' || target.startsWith('assets/')) continue
      assert.ok(PAGES.includes(target), `${name}.md links to ${href}`)
    }
  }
})

test('pages, problem pages and the API reference are served, with a strict policy and nothing inline', async (t) => {
  const service = await openTestServer(t)
  const paths = [
    '/docs',
    '/docs/',
    '/docs/api',
    ...GROUPS.map(({ name }) => `/docs/api/${name}`).filter((path) => path !== '/docs/api/billing'),
    ...PAGES.slice(1).map((name) => `/docs/${name}`),
    ...Object.keys(problems).map((code) => `/problems/${code}`),
  ]
  for (const path of paths) {
    const answer = await service.request('GET', path)
    assert.equal(answer.status, 200, path)
    assert.match(answer.headers.get('content-security-policy')!, /default-src 'none'; script-src 'self'/)
    assert.doesNotMatch(
      answer.text,
      /<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=|https?:\/\/[^"]*\.(js|css)"/,
      path,
    )
  }
  for (const path of [
    '/docs/nothing',
    '/problems/nothing',
    '/docs/assets/nothing.js',
    '/docs/assets/..%2froutes.ts',
  ]) {
    assert.equal((await service.request('GET', path)).status, 404, path)
  }
  const own = [
    'account.js',
    'api-reference.css',
    'api-reference.js',
    'as-user.js',
    'body-code.js',
    'docs.js',
    'follow-form.js',
    'session.js',
    'theme.js',
    'icon.svg',
  ]
  for (const asset of [...own, ...PACKAGE_ASSETS]) {
    assert.equal((await service.request('GET', `/docs/assets/${asset}`)).status, 200, asset)
  }
  // Their addresses have no version, so a browser soon asks again whether they have changed.
  for (const path of ['/docs/assets/docs.js', '/docs/pictures/explorer-light.png', '/site/site.css']) {
    const { headers } = await service.request('GET', path)
    assert.equal(headers.get('cache-control'), 'public, max-age=300', path)
    const again = await service.request('GET', path, { headers: { 'if-none-match': headers.get('etag')! } })
    assert.deepEqual([again.status, again.text], [304, ''], path)
  }
})

test('the API definition has every public route, with a summary and a tag, and no other', async (t) => {
  const service = await openTestServer(t, {
    settings: { license: 'https://license.example/' },
  })
  const definition = (await service.request('GET', '/v1/openapi.json')).body
  // OpenAPI 3.0 allows no other members in a license.
  assert.deepEqual(Object.keys(definition.info.license), ['name', 'url'])
  const documented = Object.entries(
    definition.paths as Record<string, Record<string, { summary?: string; tags?: string[] }>>,
  )
    .flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => {
        assert.ok(operation.summary && operation.tags?.length, `${method} ${path} says what it does`)
        return `${method.toUpperCase()} ${path}`
      }),
    )
    .sort()
  // The pages of the console and of the documentation are not part of the API.
  const isInterface = (url: string) =>
    /^\/(v1\/|health|ready|metrics|\.well-known)/.test(url) &&
    // The sign-in of assistants is described by documents of its own.
    !/^\/(v1\/(ogc|records|openapi\.json)|\.well-known\/oauth)/.test(url)
  const existing = service.routes.rows
    .filter((row) => row.method !== 'HEAD' && row.method !== 'OPTIONS' && isInterface(row.url))
    .map((row) => `${row.method} ${row.url.replace(/:([A-Za-z]+)/g, '{$1}')}`)
    .sort()
  assert.deepEqual(
    documented.filter((row) => !row.includes(' /v1/ogc')),
    [...new Set(existing)],
  )
})
