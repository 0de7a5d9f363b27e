import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { systemClock } from '../base/clock.ts'
import { makeBackup } from '../operation/backup/make-backup.ts'
import { restoreBackup } from '../operation/backup/restore/restore-backup.ts'
import { BackupFolder } from '../operation/backup/target/backup-folder.ts'
import type { BackupTarget } from '../operation/backup/target/backup-target.ts'
import { openBackupTarget } from '../operation/backup/target/open-backup-target.ts'
import { newBucketSettings } from './bucket.ts'
import { cleanUp } from './cleanup.ts'
import {
  type DatabaseKind,
  emptyDatabase,
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

/** A place for a new server. */
export async function newPlace(t: TestContext, kind: DatabaseKind): Promise<Place> {
  const databaseUrl = kind === 'postgres' ? await temporaryDatabase(t) : null
  return { dataDir: temporaryFolder(t), databaseUrl }
}

/** A place without anything, to restore into. */
export async function emptyPlace(t: TestContext, kind: DatabaseKind): Promise<Place> {
  const databaseUrl = kind === 'postgres' ? await emptyDatabase(t) : null
  return { dataDir: temporaryFolder(t), databaseUrl }
}

export function serverAt(t: TestContext, place: Place, settings: TestSettings['settings'] = {}) {
  return openTestServer(t, { dataDir: place.dataDir, databaseUrl: place.databaseUrl ?? undefined, settings })
}

/** An empty folder or bucket for backups of a place. */
export async function emptyBackupTarget(
  t: TestContext,
  kind: 'folder' | 'bucket',
  place: Place,
): Promise<BackupTarget> {
  if (kind === 'folder') return new BackupFolder(join(temporaryFolder(t), 'backup'))
  const service = await serverAt(t, place)
  await service.stop()
  const bucket = newBucketSettings()
  const target = await openBackupTarget(bucket.storageUrl!, {
    ...service.config,
    ...bucket,
    storageUrl: null,
  })
  cleanUp(t, () => target.close())
  return target
}

/** Does the same as `wayleave backup`, without starting a process. */
export function backUp(config: Place, target: string | BackupTarget, keep: number | null = null) {
  return makeBackup({ config, target, clock: systemClock, keep })
}

export function restore(config: Place, source: string | BackupTarget) {
  const options = { at: null, force: false, revocationFiles: [], suspendKeys: false }
  return restoreBackup({ config, source, clock: systemClock, ...options })
}
