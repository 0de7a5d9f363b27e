import { createHash } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { MAX_PARTS, SourceError } from '@wayleave/geodata/compile'
import type { Config } from '../../../base/settings/config.ts'
import {
  type ObjectInfo,
  type ObjectStore,
  StorageUnavailableError,
} from '../../../base/storage/object-store.ts'
import type { Fetched, FetchOptions } from './fetch-options.ts'
import { SourceFile } from './source-file.ts'
import { TransientSourceError } from './source-http.ts'

const PART_BYTES = 8 << 20

export interface S3Access {
  config: Pick<Config, 's3Endpoint' | 's3Region' | 's3PathStyle'>
  /** Whether the service's own credentials may be used: only for sources of the operator. */
  usesOwnCredentials: boolean
}

/** An object in a bucket of the store that the settings name, or the Parquet files below a prefix that ends with a slash. */
export async function fetchS3(
  address: string,
  { config, usesOwnCredentials }: S3Access,
  options: FetchOptions,
): Promise<Fetched> {
  const url = new URL(address)
  const key = decodeURIComponent(url.pathname.slice(1))
  const { S3Store } = await import('../../../base/storage/s3/s3-store.ts')
  const { s3Location } = await import('../../../base/storage/s3/s3-address.ts')
  const store = new S3Store({
    location: bucketLocation(() => s3Location({ ...config, storageUrl: `s3://${url.hostname}` })),
    credentials: await credentialsOf(options, usesOwnCredentials),
    givenBy: 'the address of the source',
  })
  try {
    return key.endsWith('/')
      ? await fetchPrefix({ store, bucket: url.hostname }, key, options)
      : await fetchObject({ store, bucket: url.hostname }, key, options)
  } catch (error) {
    options.signal.throwIfAborted()
    if (!(error instanceof StorageUnavailableError)) throw error
    throw new TransientSourceError(`The bucket ${url.hostname} cannot be read: ${error.message}`, null, {
      cause: error,
    })
  } finally {
    await store.close()
  }
}

interface Bucket {
  store: ObjectStore
  bucket: string
}

async function fetchObject({ store, bucket }: Bucket, key: string, options: FetchOptions): Promise<Fetched> {
  const object = await store.head(key, { signal: options.signal })
  if (!object) throw new SourceError(`There is no object ${key} in the bucket ${bucket}.`)
  const lastModified = stampOf(object)
  if (options.validators?.lastModified === lastModified) return null
  requireSame(options, lastModified)
  const file = await SourceFile.create(join(options.folder, 'source'), options)
  try {
    await readObject(store, object, file, options)
    const validators = { etag: null, lastModified, checksum: file.checksum() }
    return { path: file.path, file: key.replace(/^.*\//, ''), bytes: file.bytes, validators }
  } finally {
    await file.close()
  }
}

/** Objects whose names begin with `_` or `.` are notes of the program that wrote the others. */
const PART = /^(?!.*(^|\/)[_.]).*\.((geo)?parquet|pq)$/i

/** The files keep their folders, whose names may be the keys of a partition. */
async function fetchPrefix(
  { store, bucket }: Bucket,
  prefix: string,
  options: FetchOptions,
): Promise<Fetched> {
  const { folder, maxBytes, signal } = options
  const parts: ObjectInfo[] = []
  const listing = createHash('sha256')
  let bytes = 0
  for await (const object of store.list(prefix, { signal })) {
    if (!PART.test(object.key.slice(prefix.length))) continue
    if (parts.push(object) > MAX_PARTS)
      throw new SourceError(`There are more than ${MAX_PARTS} Parquet files below ${prefix}.`)
    listing.update(`${object.key}\n${stampOf(object)}\n`)
    bytes += object.bytes
  }
  if (parts.length === 0)
    throw new SourceError(`There is no Parquet file below ${prefix} in the bucket ${bucket}.`)
  if (bytes > maxBytes)
    throw new SourceError(`The source has ${bytes} bytes, and WAYLEAVE_MAX_UPLOAD_BYTES allows ${maxBytes}.`)
  const lastModified = listing.digest('hex')
  if (options.validators?.lastModified === lastModified) return null
  requireSame(options, lastModified)
  const only = options.only && new Set(options.only.names)
  const path = join(folder, 'source')
  const contents = createHash('sha256')
  let before = 0
  for (const object of parts) {
    if (only && !only.has(object.key.slice(prefix.length))) continue
    const target = partPath(path, object.key.slice(prefix.length))
    await mkdir(dirname(target), { recursive: true })
    const onBytes = (own: number) => options.onBytes?.(before + own)
    const file = await SourceFile.create(target, { maxBytes: maxBytes - before, onBytes })
    try {
      await readObject(store, object, file, options)
      contents.update(`${object.key} ${file.checksum()}\n`)
      before += file.bytes
    } finally {
      await file.close()
    }
  }
  const validators = { etag: null, lastModified, checksum: contents.digest('hex') }
  return { path, file: basename(prefix), bytes, validators }
}

/** Other workers have read the rest of it. */
function requireSame({ only }: FetchOptions, lastModified: string): void {
  if (only && only.lastModified !== lastModified)
    throw new TransientSourceError('The source was replaced while it was read.')
}

/** Keys of a bucket may have any parts; a file is never written outside of the folder. */
function partPath(folder: string, name: string): string {
  const parts = name.split('/')
  if (parts.some((part) => part === '' || part === '..' || part.includes('\0')))
    throw new SourceError(`The object ${name} has a name that cannot be the name of a file.`)
  return join(folder, ...parts)
}

function stampOf({ modifiedAt, bytes }: ObjectInfo): string {
  return `${modifiedAt.toISOString()} ${bytes}`
}

async function readObject(
  store: ObjectStore,
  object: ObjectInfo,
  file: SourceFile,
  { signal, received }: FetchOptions,
): Promise<void> {
  const { key } = object
  for (let from = 0; from < object.bytes; from += PART_BYTES) {
    const span = { from, to: Math.min(object.bytes, from + PART_BYTES) }
    const part = await store.read(key, span, { signal, patienceMs: 60_000 })
    received(part.length)
    await file.write(part)
  }
  const again = await store.head(key, { signal })
  // A listing has milliseconds, and a single object the seconds of an HTTP date.
  const seconds = ({ modifiedAt }: ObjectInfo) => Math.floor(modifiedAt.getTime() / 1000)
  if (!again || again.bytes !== object.bytes || seconds(again) !== seconds(object))
    throw new TransientSourceError(`The object ${key} was replaced while it was read.`)
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
