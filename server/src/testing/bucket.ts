import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import type { Config } from '../base/settings/config.ts'
import { openBucket } from '../base/storage/open-store.ts'
import type { S3Store } from '../base/storage/s3/s3-store.ts'
import { cleanUp } from './cleanup.ts'
import { s3Url } from './s3-proxy.ts'

export type BucketSettings = Pick<
  Config,
  'storageUrl' | 's3Endpoint' | 's3PublicEndpoint' | 's3Region' | 's3PathStyle'
>

/** The settings of a place of its own in the bucket of the tests. */
export function newBucketSettings(s3Endpoint = s3Url()): BucketSettings {
  return {
    storageUrl: `s3://wayleave/test-${randomBytes(8).toString('hex')}`,
    s3Endpoint,
    s3PublicEndpoint: null,
    s3Region: 'us-east-1',
    s3PathStyle: null,
  }
}

/** Opens the place for a test's own look at it. */
export async function openTestBucket(t: TestContext, settings: BucketSettings): Promise<S3Store> {
  const bucket = await openBucket(settings)
  cleanUp(t, () => bucket.close())
  return bucket
}
