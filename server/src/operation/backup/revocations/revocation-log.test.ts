import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { systemClock } from '../../../base/clock.ts'
import { openDatabase } from '../../../base/database/open.ts'
import { cleanUp } from '../../../testing/cleanup.ts'
import { temporaryFolder } from '../../../testing/test-server.ts'
import { RevocationLog, revocationLogFile } from './revocation-log.ts'
import { readRevocations } from './revocations.ts'

const hashOf = (index: number) => String(index).padStart(43, 'x')

test('a log that is deleted, cut or damaged under a running server is written again', async (t) => {
  const dataDir = temporaryFolder(t)
  const database = await openDatabase({ databaseUrl: null, dataDir })
  cleanUp(t, () => database.close())
  const revoke = (index: number) =>
    database.db
      .insertInto('revoked_secrets')
      .values({ secret_hash: hashOf(index), key_id: 'key', at: `2026-01-0${index}T00:00:00.000Z` })
      .execute()
  const log = new RevocationLog(database.db, dataDir, systemClock)
  const file = revocationLogFile(dataDir)
  const logged = async () => [...(await readRevocations(file)).keys()].sort()
  for (const index of [1, 2]) await revoke(index)
  await log.follow()
  assert.deepEqual(await logged(), [hashOf(1), hashOf(2)])

  rmSync(file)
  await log.follow()
  assert.deepEqual(await logged(), [hashOf(1), hashOf(2)])

  writeFileSync(file, `{"secretHash":"${hashOf(1)}","keyId":"key","at"`)
  assert.deepEqual(await logged(), [])
  await log.follow()
  assert.deepEqual(await logged(), [hashOf(1), hashOf(2)])
})
