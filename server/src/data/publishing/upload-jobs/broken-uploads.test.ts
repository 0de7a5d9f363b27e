import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { operator } from '../../../base/events/events.ts'
import { openTestServer, temporaryFolder } from '../../../testing/test-server.ts'
import { receiveUpload } from './receive-upload.ts'

const FORM = '--X\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\na,b\r\n'
const uploads: [name: string, headers: string, begun: string][] = [
  ['a file', 'Content-Type: text/csv\r\nContent-Length: 1000000', 'a,b\n'],
  ['a file in chunks', 'Content-Type: text/csv\r\nTransfer-Encoding: chunked', '4\r\na,b\n\r\n'],
  ['a form', 'Content-Type: multipart/form-data; boundary=X\r\nContent-Length: 1000000', FORM],
]

test('an upload that breaks off leaves no file behind and a line in the log, and is not a failure of the server', async (t) => {
  const service = await openTestServer(t)
  const { secret } = await service.parts.keys.createPlatform(operator, { name: 'p', permissions: ['write'] })
  const folder = join(service.config.dataDir, 'uploads')
  const files = () => (existsSync(folder) ? readdirSync(folder) : [])
  for (const [name, headers, begun] of uploads) {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1').on('error', () => {})
    socket.write(
      `PUT /v1/dataset/places HTTP/1.1\r\nHost: x\r\nX-API-Key: ${secret}\r\n${headers}\r\n\r\n${begun}`,
    )
    while (files().length === 0) await sleep(5)
    socket.destroy()
    while (files().length > 0) await sleep(5)
    // The line about the request is written after the file is removed.
    while (!service.logLines.some((line) => JSON.parse(line).status === 499)) await sleep(5)
    const errors = service.logLines.filter((line) => JSON.parse(line).level >= 50)
    assert.deepEqual(errors, [], name)
    const { method, path, status, brokenOff, address } = JSON.parse(service.logLines.at(-1)!)
    assert.deepEqual(
      { method, path, status, brokenOff, address },
      { method: 'PUT', path: '/v1/dataset/places', status: 499, brokenOff: true, address: '127.0.0.1' },
      name,
    )
    service.logLines.length = 0
  }
  assert.equal((await service.request('GET', '/v1/dataset/places')).status, 404)
})

test('an upload ends before the disk has too little room for the service itself, and leaves nothing', async (t) => {
  const path = join(temporaryFolder(t), 'upload')
  const limits = { maxBytes: 1000, minFreeBytes: Number.MAX_SAFE_INTEGER }
  await assert.rejects(receiveUpload(Readable.from([Buffer.from('a,b')]), path, limits), {
    code: 'disk-full',
  })
  assert.ok(!existsSync(path))
})
