import assert from 'node:assert/strict'
import { test } from 'node:test'
import { breaksConnection, DatabaseError, fromPostgres, fromSqlite } from './database-error.ts'

const withCode = (code: string) => Object.assign(new Error('x'), { code })
const failureOf = (error: unknown) => (error instanceof DatabaseError ? error.failure : null)

test('errors of an unavailable PostgreSQL are distinguished from errors of a statement', () => {
  const unavailable = 'ECONNREFUSED ECONNRESET ETIMEDOUT 08006 53300 57014 57P01 57P03 25006 25P03 58030'
  for (const code of unavailable.split(' '))
    assert.equal(failureOf(fromPostgres(withCode(code))), 'database-unavailable', code)
  const refusing = '28000 28P01 3D000 3F000 42P01 42703 42501 55000 55006 XX000 XX001'
  for (const code of refusing.split(' '))
    assert.equal(failureOf(fromPostgres(withCode(code))), 'database-unavailable', code)
  for (const message of ['Query read timeout', 'Connection terminated unexpectedly', 'timeout expired'])
    assert.equal(failureOf(fromPostgres(new Error(message))), 'database-unavailable', message)
  assert.equal(failureOf(fromPostgres(withCode('53100'))), 'disk-full')
  for (const code of ['23505', '23503', '40001', '42601', '55P03']) {
    const error = withCode(code)
    assert.equal(fromPostgres(error), error, code)
  }
})

test('a connection is discarded unless the server reported a shortage of resources', () => {
  for (const code of ['ECONNRESET', '57P01', '25006', '25P03'])
    assert.ok(breaksConnection(fromPostgres(withCode(code))))
  assert.ok(breaksConnection(fromPostgres(new Error('Query read timeout'))))
  for (const code of ['53100', '53300', '57014', '23505', '42P01'])
    assert.ok(!breaksConnection(fromPostgres(withCode(code))), code)
})

test('result codes of SQLite are classified by their low byte', () => {
  const of = (errcode: number) => failureOf(fromSqlite(Object.assign(new Error('x'), { errcode }), 'a.db'))
  assert.equal(of(13), 'disk-full')
  assert.equal(of(4874), 'disk-full')
  for (const errcode of [5, 261, 517, 10, 778, 11, 14, 26]) assert.equal(of(errcode), 'database-unavailable')
  for (const errcode of [1, 2067, 1555]) assert.equal(of(errcode), null)
})
