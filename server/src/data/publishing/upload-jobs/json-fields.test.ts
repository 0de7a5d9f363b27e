import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operator } from '../../../base/events/events.ts'
import { openTestServer } from '../../../testing/test-server.ts'
import { until } from '../../../testing/until.ts'

const JSON_TYPE = 'Content-Type: application/json\r\n'
const FILE = part('file"; filename="a.csv', 'n\n1\n')

function part(name: string, value: string, type = ''): string {
  return `--X\r\nContent-Disposition: form-data; name="${name}"\r\n${type}\r\n${value}\r\n`
}

test('a field that says it is JSON is bounded before it is parsed', async (t) => {
  const service = await openTestServer(t)
  const newKey = { name: 'Publisher', permissions: ['read', 'write'] }
  const { secret: key } = await service.parts.keys.createPlatform(operator, newKey)
  const send = (parts: string) => {
    const headers = { 'content-type': 'multipart/form-data; boundary=X' }
    return service.request('PUT', '/v1/dataset/numbers', { key, body: `${parts}--X--\r\n`, headers })
  }
  const field = (value: string) => part('schema', value, JSON_TYPE)
  // These are not JSON, which parsing alone would notice.
  const refused: [parts: string, status: number, detail: RegExp][] = [
    [FILE + field('['.repeat(200_000)), 400, /^schema: is nested more deeply/],
    [FILE + field('['.repeat(999_999)), 400, /^schema: /],
    [FILE + field('['.repeat(1_000_001)), 400, /^schema: is too long/],
    [FILE + field('{'), 400, /^schema: is not JSON/],
    [FILE + field('"a'), 400, /^schema: is not JSON/],
    [FILE + part('kind', '{}', JSON_TYPE), 400, /^kind: is not a known field/],
    [FILE + FILE, 413, /one file/],
  ]
  for (const [parts, status, detail] of refused) {
    const response = await send(parts)
    assert.equal(response.status, status, response.text)
    assert.match(response.body.detail, detail)
  }
  const schema = '{"columns":[{"name":"n","type":"number"}]}'
  const sent = await send(part('title', ' "The \\"numbers\\""', JSON_TYPE) + FILE + field(schema))
  assert.equal(sent.status, 202, sent.text)
  await until('the job has ended', async () => {
    const { state } = await service.parts.jobs.find(sent.body.id)
    return state === 'done' || state === 'failed'
  })
  const { title, manifest } = await service.parts.catalog.find('numbers')
  assert.deepEqual([title, manifest.columns[0]!.type], ['The "numbers"', 'number'])
  assert.deepEqual(await service.parts.versions.schema('numbers'), JSON.parse(schema))
})
