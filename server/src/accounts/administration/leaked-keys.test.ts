import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import type { AdminEvent } from '@wayleave/contract/records'
import { testedProgramArguments } from '../../../../scripts/program/tested-program.ts'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { systemClock } from '../../base/clock.ts'
import { RevocationLog, revocationLogFile } from '../../operation/backup/revocations/revocation-log.ts'
import { openAccount } from '../../testing/account.ts'
import { keyOpens } from '../../testing/key-opens.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { signIn } from '../../testing/sign-in.ts'
import { databaseKinds, openTestServer, type TestServer } from '../../testing/test-server.ts'
import { newSecret } from '../access/secret.ts'

needs('processes')

/** Runs `wayleave key find` with a text on standard input. */
async function find({ config }: TestServer, input: string, ...args: string[]) {
  const { PATH = '' } = process.env
  const child = spawn(process.execPath, [...testedProgramArguments(), 'key', 'find', '--json', ...args], {
    env: { PATH, WAYLEAVE_DATA_DIR: config.dataDir },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  child.stdin.end(input)
  const code = new Promise<number | null>((resolve) => child.once('close', resolve))
  const output = (await child.stdout.setEncoding('utf8').toArray()).join('')
  return { code: await code, output, json: JSON.parse(output) }
}

test('a leaked key is found by its secret or prefix on standard input, and revoked in one step', async (t) => {
  const service = await openTestServer(t, { settings: { admins: ['root@example.org'] } })
  const { token } = await signIn(service, 'root@example.org')
  const ada = await openAccount(service, 'ada@example.org')
  const byAdmin = (secret: string, revoke?: boolean) =>
    service.request('POST', '/v1/admin/keys/find', { token, body: { secret, revoke } })
  const { body } = await byAdmin(ada.key)
  const [found] = body.data
  assert.deepEqual(
    [found.id, found.state, found.userEmail, found.organizationId],
    [ada.keyId, 'active', 'ada@example.org', ada.organizationId],
  )
  assert.deepEqual((await byAdmin(ada.key.slice(0, -3))).body.data, body.data, 'a part of the secret')
  assert.deepEqual((await byAdmin(newSecret({ literal: 'svc', env: 'live' }))).body.data, [])
  for (const text of ['svc_live_', 'abc', `${found.prefix.slice(0, -1)}`])
    assert.equal((await byAdmin(text)).status, 400)

  const { body: rotated } = await service.request('POST', `/v1/api-keys/${ada.keyId}/rotate`, {
    token: ada.token,
  })
  const old = (await byAdmin(ada.key, true)).body.data[0]
  assert.deepEqual([old.id, old.state], [ada.keyId, 'replaced'])
  assert.ok(await keyOpens(service, rotated.secret), 'the old secret leaked, not the new one')

  const { code, output, json } = await find(service, `${rotated.secret}\n`, '--revoke')
  assert.deepEqual([code, json.data[0].id, json.data[0].state], [0, ada.keyId, 'revoked'])
  assert.ok(!output.includes(rotated.secret))
  assert.equal(await keyOpens(service, rotated.secret), false)
  assert.equal((await find(service, newSecret({ literal: 'svc', env: 'live' }))).code, 1)
  await service.request('DELETE', `/v1/api-keys/${ada.keyId}`, { token: ada.token })
  assert.equal((await byAdmin(rotated.secret)).body.data[0].state, 'deleted')
  assert.equal((await byAdmin(newSecret({ literal: 'svc', env: 'live' }), true)).status, 404)
  assert.ok(!service.logLines.join('').includes(rotated.secret))
})

for (const database of databaseKinds) {
  test(`refused keys and sign-ins become a bounded number of events, which administrators filter (${database})`, async (t) => {
    const service = await openTestServer(t, { database, settings: { admins: ['root@example.org'] } })
    const { token } = await signIn(service, 'root@example.org')
    const ada = await openAccount(service, 'ada@example.org')
    await keyOpens(service, ada.key)
    assert.ok(
      service.logLines.some((line) => line.includes(`"key":"${ada.keyId}"`) && line.includes('/v1/datasets')),
    )
    await service.request('POST', `/v1/api-keys/${ada.keyId}/revoke`, { token: ada.token })
    const { refusals } = service.parts
    await refusals.flush({ isLast: true })
    for (let i = 0; i < 5; i++) await keyOpens(service, ada.key)
    for (let i = 0; i < 200; i++) await keyOpens(service, newSecret({ literal: 'svc', env: 'live' }))
    const guess = { email: 'ada@example.org', code: '000000' }
    assert.equal((await service.request('POST', '/v1/auth/token', { body: guess })).status, 401)
    // Two at a time, as when the service stops while it records. On a slow machine it has recorded some already.
    await Promise.all([refusals.flush({ isLast: true }), refusals.flush({ isLast: true })])
    const list = async (query: string): Promise<AdminEvent[]> => {
      const { status, body } = await service.request('GET', `/v1/admin/events?${query}`, { token })
      assert.equal(status, 200)
      return body.data
    }
    const refused = await list('kind=key.refused&limit=1000')
    assert.ok(refused.length <= 22, String(refused.length))
    const sum = (events: AdminEvent[]) => events.reduce((sum, { detail }) => sum + Number(detail['count']), 0)
    assert.equal(sum(refused), 205)
    const ofKey = await list(`kind=key.refused&keyId=${ada.keyId}`)
    assert.equal(sum(ofKey), 5)
    for (const { subject, detail } of ofKey)
      assert.deepEqual([subject, detail['reason']], [`key:${ada.keyId}`, 'revoked'])
    const failed = await list(`kind=sign-in&userId=${ada.userId}`)
    assert.deepEqual(
      failed.map(({ action }) => action),
      ['sign-in.failed'],
    )
    for (const secret of [ada.key, 'ada@example.org']) assert.ok(!JSON.stringify(refused).includes(secret))

    const first = await service.request('GET', '/v1/admin/events?limit=3', { token })
    const second = await list(`limit=3&before=${first.body.next}`)
    assert.ok(second[0]!.id < first.body.data[2].id)
    const at = refused[0]!.at
    assert.equal((await list(`since=${at}&kind=user.created`)).length, 0)
    assert.equal((await list(`until=${at}&kind=user.created`)).length, 2)
    const created = await list(`kind=key&organizationId=${ada.organizationId}`)
    assert.ok(created.every(({ action }) => action.startsWith('key.')))
    for (const query of ['kind=%25', 'since=x', 'before=0', 'limit=0', 'other=1']) {
      assert.equal((await service.request('GET', `/v1/admin/events?${query}`, { token })).status, 400, query)
    }
  })

  test(`keys revoked since a restore by other means are revoked at the start or by a command (${database})`, async (t) => {
    const service = await openTestServer(t, { database })
    const { config, parts } = service
    const ada = await openAccount(service, 'ada@example.org')
    await service.request('POST', `/v1/api-keys/${ada.keyId}/revoke`, { token: ada.token })
    await new RevocationLog(parts.database.db, config.dataDir, systemClock).follow()
    /** What a restore of the database's own backup does. */
    const restoreOlderState = async () => {
      await parts.changes.commit(async (tx, changed) => {
        await tx.updateTable('api_keys').set({ revoked_at: null }).where('id', '=', ada.keyId).execute()
        await tx.deleteFrom('revoked_secrets').execute()
        changed('key', ada.keyId)
      })
      assert.ok(await keyOpens(service, ada.key))
    }
    await restoreOlderState()
    const { json } = await runCommand(config, 'key', 'apply-revocations', '--json')
    assert.deepEqual(json, { listed: 1, revoked: 1 })
    assert.equal(await keyOpens(service, ada.key), false)
    await restoreOlderState()
    await service.stop()
    const again = await openTestServer(t, {
      dataDir: config.dataDir,
      databaseUrl: config.databaseUrl ?? undefined,
    })
    assert.equal(await keyOpens(again, ada.key), false)
    assert.ok(again.logLines.some((line) => line.includes('worked again after the database was restored')))
    rmSync(revocationLogFile(config.dataDir))
    const missing = await runCommand(config, 'key', 'apply-revocations', '/nonexistent')
    assert.equal(missing.code, 1)
  })
}
