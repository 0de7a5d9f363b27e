import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { Problem } from '../../base/problem.ts'
import { failedRequest } from './failed-request.ts'

const BASE = 'https://data.example.org'
const page = (url: string, problem = new Problem('invalid-input')) =>
  failedRequest({ method: 'GET', url }, BASE, problem).text

/** The command of a page, as it is copied. */
const commandOf = (text: string) =>
  /<pre tabindex="0"><code>([^<]*)</
    .exec(text)![1]!
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&amp;', '&')

/** The arguments that a shell passes to curl. */
const argumentsOf = (command: string) =>
  execFileSync('sh', ['-c', `curl() { printf '%s\\n' "$@"; }; ${command}`], {
    env: { WAYLEAVE_API_KEY: 'mine' },
    encoding: 'utf8',
  }).split('\n')

test('a problem page has the request with decoded parameters, and a command that sends the same', () => {
  const filter = "name = 'O''Brien $(id) `id`' AND size < 3"
  const text = page(`/v1/ogc/collections/places/items?f=html&limit=5&filter=${encodeURIComponent(filter)}`)
  assert.match(text, /<code>GET \/v1\/ogc\/collections\/places\/items<\/code> <span class="badge">400</)
  assert.match(text, /<dt><code>filter<\/code><\/dt><dd><code>name = &#39;O&#39;&#39;Brien/)
  assert.deepEqual(argumentsOf(commandOf(text)), [
    ...['-i', '-G', '-H', 'X-API-Key: mine'],
    ...['--data-urlencode', 'limit=5', '--data-urlencode', `filter=${filter}`],
    `${BASE}/v1/ogc/collections/places/items`,
    '',
  ])
})

test('every wrong parameter has its message, also one that is missing', () => {
  const errors = [
    { path: 'limit', message: 'must be an integer' },
    { path: 'from', message: 'is required' },
    { path: 'to', message: 'is required' },
  ]
  const text = page(
    '/v1/ogc/collections/a/items?limit=x',
    new Problem('invalid-input', undefined, { errors }),
  )
  assert.match(text, /<code>x<\/code> <span class="wrong">must be an integer</)
  assert.match(text, /<li><code>to<\/code> is required<\/li>/)
})

test('the command keeps the format if that is what is wrong', () => {
  const errors = [{ path: 'f', message: 'must be one of json' }]
  const text = page('/v1/ogc/collections/a/tiles?f=html', new Problem('invalid-input', undefined, { errors }))
  assert.match(text, /<code>html<\/code> <span class="wrong">must be one of json</)
  assert.ok(argumentsOf(commandOf(text)).includes('f=html'))
})

test('a problem page has no secret', () => {
  const key = `wlv_live_${'a1B2'.repeat(8)}`
  const secrets: Record<string, string> = {
    api_key: 'hunter2',
    'X-API-Key': 'hunter2',
    access_token: 'hunter2',
    password: 'hunter2',
    code: '123456',
    name: key,
    filter: `x = 'https://ada:hunter2@db.example.org'`,
  }
  for (const [name, secret] of Object.entries(secrets)) {
    const text = page(`/v1/ogc/collections/a/items?${new URLSearchParams({ [name]: secret })}`)
    assert.doesNotMatch(text, /hunter2|123456|wlv_live/, name)
  }
  assert.doesNotMatch(page(`/v1/ogc/collections/${key}/items`), /wlv_live/)
})

test('pages that no program asks for have no command', () => {
  assert.doesNotMatch(page('/nowhere?q=1', new Problem('not-found')), /curl/)
})
