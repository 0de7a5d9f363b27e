import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { operator } from '../../../base/events/events.ts'
import { publishText } from '../../../testing/publish.ts'
import { openTestServer } from '../../../testing/test-server.ts'

const SCHEMA = '{"columns":[{"name":"n","type":"integer"}]}'

/** A service with a dataset, and a request that fixes its schema. */
async function openSchemas(t: TestContext) {
  const service = await openTestServer(t)
  await publishText(service, 'numbers', 'a.csv', 'n\n1\n')
  const newKey = { name: 'Publisher', permissions: ['read', 'write'] }
  const { secret } = await service.parts.keys.createPlatform(operator, newKey)
  const put = async (body: string | Uint8Array<ArrayBuffer> | null, type = 'application/json') => {
    const headers = { 'x-api-key': secret, ...(type && { 'content-type': type }) }
    const url = `${service.url}/v1/dataset/numbers/schema`
    const response = await fetch(url, { method: 'PUT', headers, body })
    return { status: response.status, text: await response.text() }
  }
  return { service, put }
}

test('a body that is refused has the problems of other bodies, with the fields that are wrong', async (t) => {
  const { put } = await openSchemas(t)
  const name = (length: number) => `{"columns":[{"name":"${'é'.repeat(length)}"}]}`
  const many = JSON.stringify({ columns: Array.from({ length: 30 }, () => ({ type: 'day' })) })
  const refused: [body: string | null, code: string, paths: string[]][] = [
    [null, 'malformed-json', []],
    ['{"columns":[', 'malformed-json', []],
    ['null', 'invalid-input', ['body']],
    ['[]', 'invalid-input', ['body']],
    ['{}', 'invalid-input', ['/columns']],
    ['{"columns":[{"name":"a","kind":"b"}],"b":1}', 'invalid-input', ['/b', '/columns/0/kind']],
    ['{"columns":[{"name":1},{"name":""}]}', 'invalid-input', ['/columns/0/name', '/columns/1/name']],
    ['{"columns":[{"name":"a\\u0000"}]}', 'invalid-input', ['/columns/0/name']],
    [name(201), 'invalid-input', ['/columns/0/name']],
    ['{"columns":[],"maxRowDrop":2,"isFixed":"yes"}', 'invalid-input', ['/isFixed', '/maxRowDrop']],
    ['{"columns":[],"longitude":"x"}', 'invalid-input', ['longitude']],
    ['{"columns":[{"name":"a"},{"name":"A"}]}', 'invalid-input', ['columns/1']],
    ['[[[[]]]]', 'invalid-input', ['body']],
    [many, 'invalid-input', Array(20).fill('/columns/')],
  ]
  for (const [body, code, paths] of refused) {
    const { status, text } = await put(body)
    const problem = JSON.parse(text)
    assert.deepEqual([status, problem.code], [400, code], `${body}: ${text}`)
    const actual = (problem.errors ?? []).map(({ path }: { path: string }) => path)
    if (body === many) assert.deepEqual([actual.length, actual[0]], [20, '/columns/0/name'])
    else assert.deepEqual(actual.sort(), paths, text)
  }
  const noType = await put(null, '')
  assert.deepEqual([noType.status, JSON.parse(noType.text).errors[0].path], [400, 'body'])
  assert.equal((await put(SCHEMA, 'text/csv')).status, 415)
  assert.equal((await put(' '.repeat(1_100_000))).status, 413)
  assert.equal((await put('{"columns":[],"__proto__":{"a":1}}')).status, 400)
  // A mark of UTF-8 at the beginning is no part of the text.
  for (const body of [SCHEMA, name(200), Buffer.from(`\uFEFF${SCHEMA}`)])
    assert.equal((await put(body)).status, 204)
})

test('a thread that dies fails the schema it reads, and the next one has a new thread', async (t) => {
  const { put, service } = await openSchemas(t)
  process.once('worker', (worker: Worker) => {
    worker.postMessage = () => void worker.terminate()
  })
  const failed = put(SCHEMA)
  // It waits for the first, in the line of the same key.
  const next = put(SCHEMA)
  assert.deepEqual(JSON.parse((await failed).text).code, 'internal-error')
  assert.equal((await next).status, 204)
  assert.notEqual(await service.parts.versions.schema('numbers'), null)
})
