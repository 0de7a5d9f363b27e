import { fileURLToPath } from 'node:url'
import type { Config } from '../settings/config.ts'
import { FolderStore } from './folder-store.ts'
import type { ObjectStore } from './object-store.ts'
import type { S3Store } from './s3/s3-store.ts'

type StorageConfig = Pick<
  Config,
  'storageUrl' | 's3Endpoint' | 's3PublicEndpoint' | 's3Region' | 's3PathStyle'
>

/** Whether snapshots are stored in a bucket instead of the data folder. */
export function isBucket({ storageUrl }: Pick<Config, 'storageUrl'>): boolean {
  return storageUrl?.startsWith('s3:') ?? false
}

/** The S3 client is only loaded if it is used. `givenBy` names where the address is from, if not the setting. */
export async function openBucket(config: StorageConfig, givenBy?: string): Promise<S3Store> {
  const { s3Location } = await import('./s3/s3-address.ts')
  const { S3Store } = await import('./s3/s3-store.ts')
  const { awsCredentials } = await import('./s3/aws-credentials.ts')
  return new S3Store({
    location: s3Location({ ...config, storageUrl: config.storageUrl ?? '' }),
    publicEndpoint: config.s3PublicEndpoint ? new URL(config.s3PublicEndpoint) : null,
    credentials: awsCredentials(),
    ...(givenBy && { givenBy }),
  })
}

/** Opens `s3://bucket/prefix` or `file:///folder`. */
export async function openStore(
  storageUrl: string,
  config: StorageConfig,
  givenBy?: string,
): Promise<ObjectStore> {
  if (storageUrl.startsWith('s3:')) return openBucket({ ...config, storageUrl }, givenBy)
  return new FolderStore(fileURLToPath(storageUrl))
}
