import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newSecret } from '../../access/secret.ts'
import { makeLogger } from './logger.ts'

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
