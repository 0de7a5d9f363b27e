import type { TestContext } from 'node:test'
import type { BackupTarget } from '../backup/backup-target.ts'
import { makeBackup } from '../backup/make-backup.ts'
import { restoreBackup } from '../backup/restore/restore-backup.ts'
import { systemClock } from '../clock.ts'
import {
  type DatabaseKind,
  openTestServer,
  type TestSettings,
  temporaryDatabase,
  temporaryFolder,
} from './test-server.ts'

/** A data folder and a database, as passed to commands and servers. */
export interface Place {
  dataDir: string
  databaseUrl: string | null
}

export async function emptyPlace(t: TestContext, kind: DatabaseKind): Promise<Place> {
  const databaseUrl = kind === 'postgres' ? await temporaryDatabase(t) : null
  return { dataDir: temporaryFolder(t), databaseUrl }
}

export function serverAt(t: TestContext, place: Place, settings: TestSettings['settings'] = {}) {
  return openTestServer(t, { dataDir: place.dataDir, databaseUrl: place.databaseUrl ?? undefined, settings })
}

/** Does the same as `wayleave backup`, without starting a process. */
export function backUp(config: Place, target: string, keep: number | null = null) {
  return makeBackup({ config, target, clock: systemClock, keep })
}

export function restore(config: Place, source: string | BackupTarget) {
  const options = { at: null, force: false, revocationFiles: [], suspendKeys: false }
  return restoreBackup({ config, source, clock: systemClock, ...options })
}
