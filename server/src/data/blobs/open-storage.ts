import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Config } from '../../base/settings/config.ts'
import { isBucket, openBucket } from '../../base/storage/open-store.ts'
import type { S3Store } from '../../base/storage/s3/s3-store.ts'
import { snapshotsFolder } from '../../base/storage/snapshots-folder.ts'
import type { Blobs } from './blobs.ts'
import type { NodeCache } from './cache/node-cache.ts'
import { FolderBlobs } from './folder-blobs.ts'

/** Where the files of the service are stored. */
export class Storage {
  readonly blobs: Blobs
  /** Null if files are stored in a folder. */
  readonly bucket: S3Store | null
  readonly cache: NodeCache | null

  constructor(blobs: Blobs, bucket: S3Store | null = null, cache: NodeCache | null = null) {
    this.blobs = blobs
    this.bucket = bucket
    this.cache = cache
  }

  async close(): Promise<void> {
    await this.bucket?.close()
  }
}

/** The code for buckets is only loaded if it is used. */
export async function openStorage(config: Config, log: Logger, threads = 1): Promise<Storage> {
  if (!isBucket(config)) return new Storage(new FolderBlobs(snapshotsFolder(config)))
  const bucket = await openBucket(config)
  const { NodeCache } = await import('./cache/node-cache.ts')
  const { ObjectBlobs } = await import('./object-blobs.ts')
  const cache = new NodeCache(join(config.dataDir, 'cache'), config.cacheBytes, log, Date.now, threads)
  await cache.open()
  return new Storage(new ObjectBlobs(bucket, cache), bucket, cache)
}
