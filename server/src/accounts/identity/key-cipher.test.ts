import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { Cursors } from '../../ogc/request/cursor.ts'
import { runProgramFile } from '../../testing/processes/run-command.ts'
import { signIn } from '../../testing/sign-in.ts'
import { openTestServer, temporaryFolder } from '../../testing/test-server.ts'
import { KeyCipher } from './key-cipher.ts'

const SECRET = 'a secret of thirty-two characters and more'

function storedKeys(dataDir: string): string[] {
  const database = new DatabaseSync(join(dataDir, 'wayleave.db'), { readOnly: true })
  const rows = database.prepare('select private_jwk from signing_keys where retired_at is null').all()
  database.close()
  return rows.map((row) => String(row['private_jwk']))
}

function storedSecrets(dataDir: string): Map<string, string> {
  const database = new DatabaseSync(join(dataDir, 'wayleave.db'), { readOnly: true })
  const rows = database.prepare('select name, value from installation_secrets').all()
  database.close()
  return new Map(rows.map((row) => [String(row['name']), String(row['value'])]))
}

test('an encrypted text is bound to its key and its row', () => {
  const cipher = new KeyCipher(SECRET)
  const sealed = cipher.encrypt('text', 'row-1')
  assert.equal(cipher.decrypt(sealed, 'row-1'), 'text')
  assert.notEqual(cipher.encrypt('text', 'row-1'), sealed)
  for (const [other, name] of [
    [cipher, 'row-2'],
    [new KeyCipher(`${SECRET}!`), 'row-1'],
    [new KeyCipher(null), 'row-1'],
  ] as const) {
    assert.throws(() => other.decrypt(sealed, name), { name: 'SettingError' })
  }
  assert.throws(() => cipher.decrypt(`${sealed.slice(0, -4)}AAAA`, 'row-1'), { name: 'SettingError' })
  assert.equal(new KeyCipher(null).encrypt('text', 'row-1'), 'text')
})

test('with a secret key, the stored secrets alone derive no refresh token and sign no cursor', async (t) => {
  for (const secretKey of [null, SECRET]) {
    const service = await openTestServer(t, { settings: { secretKey } })
    const { refreshToken } = await signIn(service, 'ada@example.org')
    const refreshed = await service.request('POST', '/v1/auth/refresh', { body: { refreshToken } })
    assert.equal(refreshed.status, 200)
    const stored = storedSecrets(service.config.dataDir)
    const successor = createHmac('sha256', stored.get('refresh-successor')!).update(refreshToken)
    assert.equal(refreshed.body.refreshToken === successor.digest('base64url'), secretKey === null)
    const forged = new Cursors(stored.get('cursor-signature')!).write(
      { version: 1, position: 2 },
      'table',
      'selection',
    )
    const isAccepted = () => service.parts.cursors.read(forged, 'table', 'selection')
    if (secretKey === null) assert.deepEqual(isAccepted(), { version: 1, position: 2 })
    else assert.throws(isAccepted, { code: 'invalid-cursor' })
  }
})

test('with a secret key the stored signing key is encrypted, sessions go on, and no start without it succeeds', {
  skip: lacks('processes'),
}, async (t) => {
  const dataDir = temporaryFolder(t)
  const before = await openTestServer(t, { dataDir })
  const { token } = await signIn(before, 'ada@example.org')
  await before.stop()
  assert.match(storedKeys(dataDir)[0]!, /"d":/)

  const encrypted = await openTestServer(t, { dataDir, settings: { secretKey: SECRET } })
  assert.equal((await encrypted.request('GET', '/v1/auth/me', { token })).status, 200)
  const [stored] = storedKeys(dataDir)
  assert.match(stored!, /^aes-256-gcm:/)
  await encrypted.stop()

  await assert.rejects(openTestServer(t, { dataDir }), {
    name: 'SettingError',
    message: /WAYLEAVE_SECRET_KEY/,
  })
  const { code } = await runProgramFile({ dataDir, databaseUrl: null }, 'rotate-signing-key')
  assert.equal(code, 0)
  const plain = await openTestServer(t, { dataDir })
  await signIn(plain, 'ada@example.org')
})
