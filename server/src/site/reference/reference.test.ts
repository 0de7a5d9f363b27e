import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { test } from 'node:test'
import { readConfig } from '../../base/settings/config.ts'
import { aboutOf } from '../../http/about.ts'
import { openTestServer } from '../../testing/test-server.ts'
import { packageAsset } from '../documentation/package-assets.ts'
import type { Operation } from './definition.ts'
import { exampleCode, jsonBody, parameterExample, responseExample } from './example-code.ts'
import { UNKNOWN } from './example-values.ts'
import { GROUPS } from './groups.ts'
import { Reference } from './reference.ts'

const MAX_BYTES = 600_000
/** What the pages load besides styles and the typeface. */
const ASSETS = [
  'account.js',
  'api-reference.css',
  'api-reference.js',
  'body-code.js',
  'docs.js',
  'follow-form.js',
  'icon.svg',
  'session.js',
  'theme.js',
]

test('the API reference', async (t) => {
  const service = await openTestServer(t, { settings: { payments: ['demo'] } })
  const [own, ogc] = await Promise.all(
    ['/v1/openapi.json', '/v1/ogc/api?f=json'].map(async (path) => (await service.request('GET', path)).body),
  )
  const about = aboutOf(readConfig({ environment: {}, file: null }))
  const reference = new Reference(about, { own, ogc, ogcRoot: '/v1/ogc' })

  const { operations } = reference
  assert.ok(operations.length > 100)
  const nameOf = ({ method, path }: Operation) => `${method} ${path}`

  await t.test('every parameter and every property of a body has a description', () => {
    const silent = operations.flatMap((operation) => {
      const body = operation.body?.content?.['application/json']?.schema
      const { properties = {} } = body ? operation.schemaOf(body) : {}
      const described = [
        ...operation.parameters.map(({ name, description }) => [name, description]),
        ...Object.entries(properties).map(([name, schema]) => [name, operation.schemaOf(schema).description]),
      ]
      return described.flatMap(([name, text]) => (text ? [] : [`${nameOf(operation)} ${name}`]))
    })
    assert.deepEqual(silent, [])
  })

  await t.test('every example is filled in, and no value is "string"', () => {
    const texts = (value: unknown): string[] =>
      typeof value === 'object' && value !== null
        ? Object.entries(value).flatMap(([key, inner]) => texts(inner).map((text) => `${key}: ${text}`))
        : [String(value)]
    const empty = operations.flatMap((operation) => {
      const values = [
        JSON.parse(jsonBody(operation) ?? 'null'),
        responseExample(operation)?.value,
        ...operation.parameters.map((one) => ({ [one.name]: parameterExample(operation, one) })),
      ]
      return values
        .flatMap(texts)
        .filter((text) => text.endsWith(UNKNOWN) || /\bstring$/.test(text))
        .map((text) => `${nameOf(operation)} ${text}`)
    })
    assert.deepEqual(empty, [])
  })

  await t.test('examples read the key from the environment, in every language', () => {
    for (const operation of operations) {
      for (const code of Object.values(exampleCode(operation)))
        assert.equal(/WAYLEAVE_(API_KEY|TOKEN)/.test(code), operation.access !== 'none', code)
    }
  })

  await t.test('a page shows the code of each language, also around what its script replaces', () => {
    const plain = (html: string) =>
      html
        .replaceAll(/<[^>]+>/g, '')
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&quot;', '"')
        .replaceAll(/&#(?:39|x27);/g, "'")
        .replaceAll('&amp;', '&')
    for (const { name } of GROUPS) {
      const page = reference.page(name)!
      for (const operation of operations.filter(({ group }) => group === name)) {
        const start = page.indexOf(`<section class="operation" id="${operation.id}"`)
        const part = page.slice(start, page.indexOf('</section>', start))
        for (const [language, code] of Object.entries(exampleCode(operation))) {
          const block = part.slice(part.indexOf(`<div data-language="${language}"`))
          assert.equal(plain(/<code>(.*?)<\/code>/s.exec(block)![1]!), code)
        }
      }
    }
  })

  await t.test('each page is less than 600 KB with its scripts, its styles and the typeface', async () => {
    const assets = new URL('../documentation/assets/', import.meta.url)
    const styles = new URL('../styles/', import.meta.url)
    const bytes = (url: URL) => readFileSync(url).length
    const shared =
      ASSETS.map((name) => bytes(new URL(name, assets))).reduce((sum, size) => sum + size) +
      ['base', 'layout', 'controls', 'tables', 'content', 'prose']
        .map((name) => bytes(new URL(`${name}.css`, styles)))
        .reduce((sum, size) => sum + size) +
      statSync(packageAsset('instrument-sans.woff2')!).size
    for (const name of ['', ...GROUPS.map((group) => group.name)]) {
      const page = Buffer.byteLength(reference.page(name)!)
      assert.ok(page + shared < MAX_BYTES, `${name}: ${page} + ${shared} bytes`)
    }
  })

  await t.test('every operation is on one page, with a response for each of its statuses', async () => {
    for (const { name } of GROUPS) {
      const page = reference.page(name)!
      for (const operation of operations) {
        const { id, group, responses } = operation
        const json = jsonBody(operation)
        const start = page.indexOf(`<section class="operation" id="${id}"`)
        assert.equal(start > 0, group === name, `${id} on ${name}`)
        if (start < 0) continue
        const part = page.slice(start, page.indexOf('</section>', start))
        assert.equal(part.split('<span data-address>').length - 1, 3, `the address in three languages: ${id}`)
        const bodies = [...part.matchAll(/<span data-body>/g)].length
        assert.equal(bodies, json === undefined ? 0 : 3, `the body in three languages: ${id}`)
        for (const { status } of responses)
          assert.match(part, new RegExp(`class="badge \\w+">${status}<`), id)
      }
    }
  })
})
