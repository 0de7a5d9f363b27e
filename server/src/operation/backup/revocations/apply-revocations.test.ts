import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../base/clock.ts'
import type { Changes } from '../../../base/database/changes/changes.ts'
import { openChanges } from '../../../base/database/changes/open-changes.ts'
import { openDatabase } from '../../../base/database/open.ts'
import { newId } from '../../../base/id.ts'
import { cleanUp } from '../../../testing/cleanup.ts'
import { databaseKinds, temporaryDatabase, temporaryFolder } from '../../../testing/test-server.ts'
import { applyRevocations } from './apply-revocations.ts'
import type { Revocation } from './revocations.ts'

const KEYS = 1200
const AT = '2026-01-01T00:00:00.000Z'

for (const kind of databaseKinds) {
  test(`many keys are revoked again in several transactions (${kind})`, async (t) => {
    const databaseUrl = kind === 'postgres' ? await temporaryDatabase(t) : null
    const database = await openDatabase({ databaseUrl, dataDir: temporaryFolder(t) })
    const changes = await openChanges(database, { nodeId: 'node', serving: false })
    cleanUp(t, async () => {
      await changes.close()
      await database.close()
    })
    const { db } = database
    const revocations = new Map<string, Revocation>()
    const rows = Array.from({ length: KEYS }, (_, index) => {
      const secretHash = String(index).padStart(43, 'x')
      const keyId = newId('key')
      revocations.set(secretHash, { secretHash, keyId, at: AT })
      return {
        id: keyId,
        name: 'Key',
        scope: 'platform' as const,
        permissions: '',
        prefix: '',
        secret_hash: secretHash,
        kind: 'key' as const,
        created_at: AT,
      }
    })
    await db.insertInto('api_keys').values(rows).execute()
    const sizes: number[] = []
    const commit: Changes['commit'] = (work) =>
      changes.commit(async (tx, changed) => {
        let size = 0
        const result = await work(tx, (...subject) => {
          size++
          changed(...subject)
        })
        sizes.push(size)
        return result
      })
    assert.equal(await applyRevocations({ db, commit }, systemClock(), revocations), KEYS)
    assert.deepEqual(sizes, [500, 500, 200])
    assert.equal(await applyRevocations({ db, commit }, systemClock(), revocations), 0)
  })
}
