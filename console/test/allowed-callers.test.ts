import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callersOf, changedLists, listFieldError, listsOf } from '../src/keys/allowed-callers.ts'

const RECORD = { allowedOrigins: ['https://a.example', 'https://*.b.example'], allowedAddresses: null }

test('lists of allowed callers are texts with a line for each entry, and no entry means any caller', () => {
  const callers = callersOf(RECORD)
  assert.deepEqual(callers, { origins: 'https://a.example\nhttps://*.b.example', addresses: '' })
  assert.deepEqual(listsOf(callers), RECORD)
  assert.deepEqual(listsOf({ origins: ' \n, ', addresses: '192.0.2.1, 192.0.2.2' }), {
    allowedOrigins: null,
    allowedAddresses: ['192.0.2.1', '192.0.2.2'],
  })
})

test('only a list that was changed is sent', () => {
  assert.deepEqual(changedLists(callersOf(RECORD), RECORD), {})
  assert.deepEqual(changedLists({ origins: '', addresses: '' }, RECORD), { allowedOrigins: null })
  assert.deepEqual(changedLists({ ...callersOf(RECORD), addresses: '::1' }, RECORD), {
    allowedAddresses: ['::1'],
  })
})

test('the error of an entry names it', () => {
  const errors = [{ path: '/allowedOrigins/1', message: 'must be an origin' }]
  const text = 'https://a.example\nexample'
  assert.equal(listFieldError(errors, '/allowedOrigins', text), '“example” must be an origin.')
  assert.equal(listFieldError(errors, '/allowedAddresses', text), undefined)
})
