import { resolve } from 'node:path'
import type { Config } from '../../../base/settings/config.ts'
import { SettingError } from '../../../base/settings/config.ts'
import { settings } from '../../../base/settings/settings.ts'
import { openBucket } from '../../../base/storage/open-store.ts'
import { BackupBucket } from './backup-bucket.ts'
import { BackupFolder } from './backup-folder.ts'
import type { BackupTarget } from './backup-target.ts'
import { openScratch } from './scratch-folder.ts'

/** Opens a folder, or a bucket that is named as `s3://bucket/prefix`. */
export async function openBackupTarget(place: string, config: Config): Promise<BackupTarget> {
  if (!place.startsWith('s3:')) return new BackupFolder(resolve(place))
  const parsed = settings.storageUrl.parse(place)
  if ('expected' in parsed) throw new SettingError(`"${place}" is not ${parsed.expected}.`)
  const store = await openBucket({ ...config, storageUrl: place }, 'the address of the backup')
  if (config.storageUrl?.startsWith('s3:')) {
    const own = await openBucket(config)
    await own.close()
    if (own.location === store.location) {
      await store.close()
      throw new SettingError(`${place} holds the files of this installation. Use another prefix for backups.`)
    }
  }
  return new BackupBucket(store, await openScratch(config.dataDir))
}
