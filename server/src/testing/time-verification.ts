import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Verifier } from '../accounts/access/verifier.ts'
import { Keys } from '../accounts/keys/keys.ts'
import { systemClock } from '../base/clock.ts'
import { openChanges } from '../base/database/changes/open-changes.ts'
import { openDatabase } from '../base/database/open.ts'
import { operator } from '../base/events/events.ts'
import { newId } from '../base/id.ts'

/** Time to verify a cached key on SQLite, in microseconds: the median of ten rounds. */
export async function timeVerification(count: number): Promise<number> {
  const dataDir = mkdtempSync(join(tmpdir(), 'wayleave-verification-'))
  const database = await openDatabase({ databaseUrl: null, dataDir })
  const changes = await openChanges(database, { nodeId: newId('node'), serving: true })
  try {
    const format = { literal: 'svc', env: 'live' }
    const max = { perUser: 25, perOrganization: 100 }
    const keys = new Keys({ database, changes, clock: systemClock, format, max })
    const rate = { requests: 600, burst: 100 }
    const verifier = new Verifier({
      db: database.db,
      changes,
      clock: systemClock,
      format,
      rate,
      ownerRate: rate,
      administrators: new Set(),
    })
    const { secret } = await keys.createPlatform(operator, { name: 'Timed', permissions: ['read'] })
    await verifier.verify(secret)
    const rounds: number[] = []
    for (let round = 0; round < 10; round++) {
      const began = performance.now()
      for (let i = 0; i < count; i++) {
        // Each on a new connection, which has not sent the key before.
        if (verifier.peek(secret, {}) === null) throw new Error('The key is not in the cache.')
      }
      rounds.push(((performance.now() - began) * 1000) / count)
    }
    return rounds.sort((a, b) => a - b)[5]!
  } finally {
    await changes.close()
    await database.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

if (import.meta.main) process.stdout.write(`${await timeVerification(50_000)}\n`)
