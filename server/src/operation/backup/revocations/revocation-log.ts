import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, HOUR, plus } from '../../../base/clock.ts'
import type { Db } from '../../../base/database/open.ts'
import { appendRevocations, readRevocations } from './revocations.ts'
import { readRevokedSecrets } from './revoked-secrets-store.ts'

export function revocationLogFile(dataDir: string): string {
  return join(dataDir, 'revocations.log')
}

/**
 * Keeps a second list of revoked secrets in the data folder, outside the database: if the database is lost
 * and an older backup is restored, the keys that were revoked since then stay revoked. A server runs it every
 * few seconds; polling the rows, rather than handling events, also covers revocations by commands and other
 * nodes.
 */
export class RevocationLog {
  readonly #db: Db
  readonly #file: string
  readonly #clock: Clock
  #logged: Set<string> | null = null
  #size = 0

  constructor(db: Db, dataDir: string, clock: Clock) {
    this.#db = db
    this.#clock = clock
    this.#file = revocationLogFile(dataDir)
  }

  /** Appends the revocations that the log lacks. */
  async follow(): Promise<void> {
    // A log that was deleted or cut, as by a program that rotates logs, is written again from the database.
    if ((await sizeOf(this.#file)) < this.#size) this.#logged = null
    const isFirst = this.#logged === null
    this.#logged ??= new Set((await readRevocations(this.#file)).keys())
    const logged = this.#logged
    // Overlap by an hour: the nodes' clocks differ, and a transaction commits after the time that it records.
    const since = isFirst ? '' : plus(this.#clock(), -HOUR).toISOString()
    const missing = (await readRevokedSecrets(this.#db, since)).filter((row) => !logged.has(row.secretHash))
    await appendRevocations(this.#file, missing)
    for (const { secretHash } of missing) logged.add(secretHash)
    this.#size = await sizeOf(this.#file)
  }
}

async function sizeOf(file: string): Promise<number> {
  const stats = await stat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return { size: 0 }
    throw error
  })
  return stats.size
}
