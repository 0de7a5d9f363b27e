import { join } from 'node:path'
import { SourceError } from '@wayleave/geodata/compile'
import type { Config } from '../../../base/settings/config.ts'
import { StorageUnavailableError } from '../../../base/storage/object-store.ts'
import type { Fetched, FetchOptions } from './fetch-options.ts'
import { SourceFile } from './source-file.ts'
import { TransientSourceError } from './source-http.ts'

const PART_BYTES = 8 << 20

export interface S3Access {
  config: Pick<Config, 's3Endpoint' | 's3Region' | 's3PathStyle'>
  /** Whether the service's own credentials may be used: only for sources of the operator. */
  usesOwnCredentials: boolean
}

/** An object in a bucket of the store that the settings name. */
export async function fetchS3(
  address: string,
  { config, usesOwnCredentials }: S3Access,
  options: FetchOptions,
): Promise<Fetched> {
  const url = new URL(address)
  const key = decodeURIComponent(url.pathname.slice(1))
  if (key === '') throw new SourceError('The address names no object: it is s3://bucket/key.')
  const { S3Store } = await import('../../../base/storage/s3/s3-store.ts')
  const { s3Location } = await import('../../../base/storage/s3/s3-address.ts')
  const store = new S3Store({
    location: bucketLocation(() => s3Location({ ...config, storageUrl: `s3://${url.hostname}` })),
    credentials: await credentialsOf(options, usesOwnCredentials),
    givenBy: 'the address of the source',
  })
  const file = await SourceFile.create(join(options.folder, 'source'), options)
  try {
    const object = await store.head(key, { signal: options.signal })
    if (!object) throw new SourceError(`There is no object ${key} in the bucket ${url.hostname}.`)
    const lastModified = `${object.modifiedAt.toISOString()} ${object.bytes}`
    if (options.validators?.lastModified === lastModified) return null
    for (let from = 0; from < object.bytes; from += PART_BYTES) {
      const span = { from, to: Math.min(object.bytes, from + PART_BYTES) }
      const part = await store.read(key, span, { signal: options.signal, patienceMs: 60_000 })
      options.received(part.length)
      await file.write(part)
    }
    const again = await store.head(key, { signal: options.signal })
    if (again?.modifiedAt.getTime() !== object.modifiedAt.getTime())
      throw new TransientSourceError(`The object ${key} was replaced while it was read.`)
    return {
      path: file.path,
      file: key.replace(/^.*\//, ''),
      bytes: file.bytes,
      validators: { etag: null, lastModified, checksum: file.checksum() },
    }
  } catch (error) {
    options.signal.throwIfAborted()
    if (!(error instanceof StorageUnavailableError)) throw error
    throw new TransientSourceError(`The bucket ${url.hostname} cannot be read: ${error.message}`, null, {
      cause: error,
    })
  } finally {
    await file.close()
    await store.close()
  }
}

function bucketLocation<T>(parse: () => T): T {
  try {
    return parse()
  } catch {
    throw new SourceError('The address is not one of a bucket: it is s3://bucket/key.')
  }
}

async function credentialsOf({ credentials }: FetchOptions, usesOwnCredentials: boolean) {
  if (credentials?.username) {
    const { username: accessKeyId, password: secretAccessKey = '' } = credentials
    return async () => ({ accessKeyId, secretAccessKey })
  }
  if (!usesOwnCredentials)
    throw new SourceError(
      'A source in a bucket needs credentials: s3://accessKeyId:secretAccessKey@bucket/key.',
    )
  return (await import('../../../base/storage/s3/aws-credentials.ts')).awsCredentials()
}
