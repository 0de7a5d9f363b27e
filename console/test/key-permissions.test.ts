import assert from 'node:assert/strict'
import { test } from 'node:test'
import { permissionsOf, permissionWords, reachesOf } from '../src/keys/key-permissions.ts'

test('permissions survive the form, whether for all datasets or for some', () => {
  for (const permissions of [
    ['read'],
    ['read:a', 'read:b'],
    ['read', 'write:a'],
    ['write'],
    ['read', 'admin'],
  ]) {
    assert.deepEqual(permissionsOf(reachesOf(permissions)), permissions)
  }
})

test('permissions are said in words', () => {
  assert.equal(permissionWords(['read:a', 'read:b', 'write']), 'Reads a, b, publishes all datasets')
  assert.equal(permissionWords(['admin']), 'Administers the service')
})
