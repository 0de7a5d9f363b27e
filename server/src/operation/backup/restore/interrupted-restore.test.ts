import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { lacks } from '../../../../../scripts/test-run/needs.ts'
import { TcpProxy } from '../../../../../scripts/test-servers/tcp-proxy.ts'
import { systemClock } from '../../../base/clock.ts'
import { readNothing } from '../../../base/database/heartbeat-store.ts'
import { createKey, openAccount } from '../../../testing/account.ts'
import { backUp, emptyPlace, serverAt } from '../../../testing/backup-place.ts'
import { cleanUp } from '../../../testing/cleanup.ts'
import { signIn } from '../../../testing/sign-in.ts'
import {
  emptyDatabase,
  openTestServer,
  type TestServer,
  temporaryFolder,
} from '../../../testing/test-server.ts'
import { checkDatabase } from '../../doctor/check-servers.ts'
import { revocationLogFile } from '../revocations/revocation-log.ts'
import { runningNodes } from '../rows/postgres-rows-store.ts'
import { markUnfinishedRestore, readUnfinishedRestore, type UnfinishedRestore } from './folder-marks.ts'
import { type RestoreOptions, restoreBackup } from './restore-backup.ts'

async function statusOf(node: TestServer, key: string): Promise<number> {
  return (await node.request('GET', '/v1/datasets', { key })).status
}

/** The status of the first response that is not 503. */
async function settledStatus(node: TestServer, key: string): Promise<number> {
  for (;;) {
    const status = await statusOf(node, key)
    if (status !== 503) return status
    await sleep(20)
  }
}

test('while a restore to PostgreSQL is unfinished, nodes with other data folders neither start nor serve', {
  skip: lacks('postgres'),
}, async (t) => {
  const source = await emptyPlace(t, 'sqlite')
  const target = join(temporaryFolder(t), 'backup')
  const service = await serverAt(t, source)
  const ada = await openAccount(service, 'ada@example.org')
  const other = await createKey(service, ada, ['read'])
  await backUp(source, target)
  await service.request('POST', `/v1/api-keys/${ada.keyId}/revoke`, { token: ada.token })
  await service.stop()

  const databaseUrl = await emptyDatabase(t)
  const { proxy, url } = await TcpProxy.open(databaseUrl, (close) => cleanUp(t, close))
  const running = await openTestServer(t, { databaseUrl: url })
  // Its lease lapses, as on a machine that is paused, so the restore does not know of it.
  proxy.set('down')
  while ((await runningNodes(databaseUrl)).length > 0) await sleep(50)

  let isInterrupted = false
  const options: RestoreOptions = {
    config: { dataDir: temporaryFolder(t), databaseUrl },
    source: target,
    at: null,
    force: true,
    suspendKeys: false,
    revocationFiles: [revocationLogFile(source.dataDir)],
    onProgress: ({ phase }) => {
      isInterrupted = phase === 'database'
    },
    clock: () => {
      if (isInterrupted) throw new Error('interrupted')
      return systemClock()
    },
  }
  await assert.rejects(restoreBackup(options), /interrupted/)
  const dataDir = temporaryFolder(t)
  await assert.rejects(openTestServer(t, { databaseUrl, dataDir }), (error: Error) => {
    assert.match(error.message, /^A restore into the PostgreSQL database, begun at .* has not finished\./)
    return error.message.includes(`wayleave restore ${target} --at `)
  })
  const { message, remedy } = await checkDatabase(options.config, () => false)
  assert.match(`${message} ${remedy}`, /has not finished.*run it again: wayleave restore/)
  proxy.set('open')
  const failure = () => readNothing(running.parts.database.db).catch(String)
  while (!(await failure())?.includes('restore of the control database has not finished')) await sleep(20)
  for (const key of [ada.key, other.secret]) assert.equal(await statusOf(running, key), 503)

  isInterrupted = false
  const { revokedKeys } = await restoreBackup({ ...options, clock: systemClock, onProgress: () => {} })
  assert.equal(revokedKeys, 1)
  const started = await openTestServer(t, { databaseUrl, dataDir })
  for (const node of [running, started]) {
    assert.equal(await settledStatus(node, ada.key), 401)
    assert.equal(await settledStatus(node, other.secret), 200)
  }
})

test('a restore whose last step was interrupted changes nothing when it is run again under running nodes', {
  skip: lacks('postgres'),
}, async (t) => {
  const source = await emptyPlace(t, 'sqlite')
  const target = join(temporaryFolder(t), 'backup')
  const service = await serverAt(t, source)
  const ada = await openAccount(service, 'ada@example.org')
  await backUp(source, target)
  await service.stop()
  const restored = await emptyPlace(t, 'postgres')
  const options: RestoreOptions = {
    config: restored,
    source: target,
    at: null,
    force: false,
    suspendKeys: false,
    revocationFiles: [],
    clock: systemClock,
  }
  let mark: UnfinishedRestore | null = null
  const onProgress = () => {
    mark = readUnfinishedRestore(restored.dataDir) ?? mark
  }
  assert.ok((await restoreBackup({ ...options, onProgress })).rows > 0)
  // Interrupted before the mark in the data folder was removed. Nodes on other machines may start.
  await markUnfinishedRestore(restored.dataDir, mark!)
  await assert.rejects(serverAt(t, restored), /did not finish. Run it again/)
  const node = await openTestServer(t, { databaseUrl: restored.databaseUrl! })
  const session = await signIn(node, 'ada@example.org')
  assert.equal((await restoreBackup(options)).rows, 0)
  assert.equal(readUnfinishedRestore(restored.dataDir), null)
  assert.equal(await statusOf(node, ada.key), 200)
  const me = await node.request('GET', '/v1/organization/me', { token: session.token })
  assert.equal(me.status, 200, 'a session that began after the restore goes on')
  await markUnfinishedRestore(restored.dataDir, mark!)
  const { suspendedKeys, workingKeys } = await restoreBackup({ ...options, suspendKeys: true })
  assert.deepEqual([suspendedKeys > 0, workingKeys], [true, 0])
  assert.equal(await statusOf(node, ada.key), 401)
})
