import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config } from '../settings/config.ts'

/** The folder of the snapshots, if they are not stored in a bucket. */
export function snapshotsFolder({ dataDir, storageUrl }: Pick<Config, 'dataDir' | 'storageUrl'>): string {
  const root = storageUrl?.startsWith('file:') ? fileURLToPath(storageUrl) : dataDir
  return join(root, 'snapshots')
}
