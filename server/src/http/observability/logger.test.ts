import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newSecret } from '../../accounts/access/secret.ts'
import { makeLogger } from './logger.ts'
import { logRequest } from './request-log.ts'

test('a secret of any kind that reaches the logger is not in the line', () => {
  const lines: string[] = []
  const log = makeLogger('info', (line) => lines.push(line))
  const key = newSecret({ literal: 'svc', env: 'live' })
  const jwt = 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ1In0.c2lnbmF0dXJl'
  log.info(
    { header: key, url: `/v1/x?api_key=${key}`, nested: { authorization: `Bearer ${jwt}` } },
    `sent ${key}`,
  )
  log.error({ err: new Error(`connect postgres://wayleave:opensesame@db/x with ${jwt}`) }, 'failed')
  log.info({ refreshToken: 'Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4', code: '123456' })
  const text = lines.join('')
  assert.equal(lines.length, 3)
  for (const secret of [key, key.slice(9), jwt, 'opensesame', 'Zm9vYmFyYmF6', '123456']) {
    assert.ok(!text.includes(secret), `${secret} was logged`)
  }
  assert.match(text, /\[redacted\]/)
  for (const line of lines) JSON.parse(line)
})

test('problem codes and ids are not taken for secrets', () => {
  const lines: string[] = []
  makeLogger('info', (line) => lines.push(line)).info(
    { code: 'key-invalid', keyId: 'key_0123456789ABCDEFGHIJ' },
    'request',
  )
  assert.match(lines[0]!, /key-invalid/)
  assert.match(lines[0]!, /key_0123456789ABCDEFGHIJ/)
})

test('lines for people are short, redacted, and have no control characters; parts of pages are not logged', () => {
  const lines: string[] = []
  const log = makeLogger('info', (line) => lines.push(line), 'text')
  const request = { id: 'req_1', method: 'GET', status: 200, milliseconds: 3.14, address: '127.0.0.1' }
  logRequest(log, { ...request, path: '/v1/datasets' })
  for (const path of ['/assets/index-1a2b.js', '/docs/assets/page.css', '/theme.js', '/health'])
    logRequest(log, { ...request, path })
  logRequest(log, { ...request, path: '/assets/none.js', status: 404 })
  log.warn({ table: 'parcels', note: 'a\u001b[2Jb\nforged' }, 'Published.')
  log.error({ err: new Error('connect postgres://wayleave:opensesame@db/x') }, 'failed')
  const [data, asset, warning, error, ...others] = lines
  assert.match(data!, /^\d\d:\d\d:\d\d GET \/v1\/datasets 200 3\.1 ms\n$/)
  assert.match(asset!, /GET \/assets\/none\.js 404/)
  assert.match(warning!, /^[\d:]{8} warning: Published\. table=parcels note=a\\x1b\[2Jb\\x0aforged\n$/)
  assert.match(
    error!,
    /error: failed\n {2}Error: connect postgres:\/\/wayleave:\[redacted\]@db\/x\n {2} {4}at /,
  )
  assert.deepEqual(others, [])
})

test('a path is logged as it was sent, escaped if it has to be, and a secret in it is not', () => {
  const lines: string[] = []
  const log = makeLogger('info', (line) => lines.push(line))
  const request = { id: 'req_1', method: 'GET', status: 200, milliseconds: 3.14, address: '127.0.0.1' }
  const secret = newSecret({ literal: 'svc', env: 'live' })
  const paths = [
    '/v1/ogc/collections/points/items/12',
    '/v1/"quoted"\\',
    '/v1/caf\u00e9\u0007',
    `/v1/${'long-name-of-a-table-'.repeat(2)}`,
    '',
  ]
  for (const path of paths) logRequest(log, { ...request, path })
  for (const path of [`/v1/${secret}`, `/v1/${secret}/items`]) logRequest(log, { ...request, path })
  const logged = lines.map((line) => (JSON.parse(line) as { path: string }).path)
  assert.deepEqual(logged.slice(0, paths.length), paths)
  assert.equal(logged.length, paths.length + 2)
  for (const path of logged.slice(paths.length)) {
    assert.match(path, /\[redacted\]/)
    assert.ok(!path.includes(secret.slice(9)), path)
  }
})
