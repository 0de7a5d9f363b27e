import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../../base/settings/config.ts'
import { nextMail } from '../../testing/sign-in.ts'
import { openTestServer } from '../../testing/test-server.ts'

test('an administrator is one however the setting and the sign-in write the address', async (t) => {
  const environment = { WAYLEAVE_ADMINS: 'Root@BÜCHER.example, ada@example.org' }
  const { admins } = readConfig({ environment, file: null })
  const service = await openTestServer(t, { settings: { admins, signUp: 'invite' } })
  for (const email of ['root@bücher.example', ' ROOT@xn--bcher-kva.Example']) {
    await service.request('POST', '/v1/auth/magic-link', { body: { email } })
    const { token } = await nextMail(service, 'root@xn--bcher-kva.example')
    const entered = await service.request('POST', '/v1/auth/token', { body: { token } })
    const me = await service.request('GET', '/v1/auth/me', { token: entered.body.accessToken })
    assert.equal(me.body.administrator, true)
  }
})
