import { get, type HostileRequest, legal, numbered, post, refused, sent } from './hostile-request.ts'

/** With the access token of a user. */
export function userRequests(token: string): HostileRequest[] {
  const bearer = `Authorization: Bearer ${token}\r\n`
  const members = `{${numbered(5500, (i) => `"a${i}":1`)}}`
  const permissions = JSON.stringify({ name: 'a', permissions: Array(12_000).fill('b') })
  const events = JSON.stringify({ url: 'https://a.example', events: Array(900).fill('c') })
  return [
    refused('personal key, 5,500 members', post('/v1/api-keys/personal', bearer, members)),
    refused('personal key, 12,000 permissions', post('/v1/api-keys/personal', bearer, permissions)),
    refused('webhook, 900 events', post('/v1/webhooks', bearer, events)),
    refused('checkout, 5,500 members', post('/v1/billing/checkout', bearer, members)),
    refused('invitation, brackets', post('/v1/invitations/accept', bearer, '['.repeat(16_000))),
    legal('organizations', get('/v1/organizations', bearer)),
  ]
}

/** With a key that may publish, and with those of one organization. */
export function publisherRequests(publisher: string, colleagues: readonly string[]): HostileRequest[] {
  const key = `X-API-Key: ${publisher}\r\n`
  const notes = (count: number) =>
    `{"columns":{${numbered(count, (i) => `"a${i}":{"title":"b","unit":"c"}`)}}}`
  const columns = (count: number) =>
    `{"columns":[${numbered(count, (i) => `{"name":"a${i}","type":"text"}`)}]}`
  const text = 'a'.repeat(100)
  const full = (i: number) =>
    `{"name":"a${i}","source":"b${i}","type":"number","format":"decimal-comma","title":"${text}","description":"${text.repeat(6)}","unit":"c","hidden":false}`
  const types = `{"address":"https://a.example","options":{"types":{${numbered(2000, (i) => `"a${i}":"text"`)}},"a":1}}`
  const part = (name: string, value: string) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const formType = 'multipart/form-data; boundary=b'
  const upload = (parts: string) => put('/v1/dataset/sent', `${parts}--b--\r\n`, formType)
  const file = part('file"; filename="a.csv', 'a')
  // Refused when all of it was checked, because two columns have the same name.
  const wideSchema = columns(7000).replace('"a6999"', '"a0"')
  const jsonPart = part('schema', `[${'[],'.repeat(330_000)}[]]`).replace(
    '\r\n\r\n',
    '\r\nContent-Type: application/json\r\n\r\n',
  )
  const put = (path: string, body: string, type?: string) => sent('PUT', path, key, body, type)
  const described = `{"columns":[${numbered(1000, full)}]}`
  return [
    legal('description, 1,000 columns', sent('PATCH', '/v1/dataset/points', key, notes(1000))),
    refused('description, 6,000 columns', sent('PATCH', '/v1/dataset/points', key, notes(6000))),
    refused('source, 2,000 types', put('/v1/dataset/points/source', types)),
    legal('schema, 1,000 columns', put('/v1/dataset/points/schema', described)),
    legal('schema, 1,000 columns, read', get('/v1/dataset/points/schema', key)),
    legal(
      `schema, 1,000 columns, ${colleagues.length} keys of an organization`,
      ...colleagues.map((each) => sent('PUT', '/v1/dataset/own/schema', `X-API-Key: ${each}\r\n`, described)),
    ),
    legal('schema, 5,000 columns', put('/v1/dataset/points/schema', columns(5000))),
    refused('schema, 10,001 columns', put('/v1/dataset/points/schema', columns(10_001))),
    refused('schema, brackets', put('/v1/dataset/points/schema', '['.repeat(1_000_000))),
    refused('schema, 4,000,000 brackets', put('/v1/dataset/points/schema', '['.repeat(4_000_000))),
    refused('upload, 900 parts', upload(numbered(900, (i) => part(`a${i}`, 'c'), ''))),
    refused('upload, schema of 7,000 columns', upload(part('schema', wideSchema) + file)),
    refused('upload, JSON of 1 MB', upload(jsonPart + file)),
    refused('upload, long types', put(`/v1/dataset/sent?types=${'a=text,'.repeat(6000)}`, 'a')),
  ]
}
