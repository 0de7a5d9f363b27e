import { SourceError } from '@wayleave/geodata/compile'
import { requireFreeDisk } from '../../../base/storage/free-disk.ts'
import { type SourceKind, withSecretParameters } from '../source-address.ts'
import { fetchFile } from './fetch-file.ts'
import type { Fetched, FetchOptions } from './fetch-options.ts'
import { fetchPagesInThread } from './fetch-pages-in-thread.ts'
import type { PostgresChoice } from './fetch-postgres.ts'
import { fetchS3, type S3Access } from './fetch-s3.ts'
import { FetchWatch } from './fetch-watch.ts'

const MAX_MESSAGE = 2000

export interface FetchRequest extends PostgresChoice {
  kind: SourceKind
  /** Without credentials. */
  address: string
}

/**
 * Fetches a source into a file that can be published, whole or not at all. Returns null if it has not changed since
 * the validators of the options. Throws a SourceError that says why it cannot be fetched.
 */
export async function fetchSource(
  request: FetchRequest,
  options: Omit<FetchOptions, 'received'>,
  s3: S3Access,
): Promise<Fetched> {
  await requireFreeDisk(options.folder, options.limits.minFreeBytes)
  const watch = new FetchWatch(options.signal, options.limits, options.folder)
  const received = (bytes: number) => watch.received(bytes)
  try {
    const fetched = await fetchKind(request, { ...options, signal: watch.signal, received }, s3)
    const checksum = options.validators?.checksum ?? null
    return fetched !== null && fetched.validators.checksum === checksum ? null : fetched
  } catch (error) {
    // It may quote what the service sent, and is stored with the job.
    if (error instanceof SourceError) error.message = error.message.slice(0, MAX_MESSAGE)
    throw error
  } finally {
    watch.end()
  }
}

async function fetchKind(request: FetchRequest, options: FetchOptions, s3: S3Access): Promise<Fetched> {
  const { kind } = request
  const address = withSecretParameters(request.address, options.credentials)
  switch (kind) {
    case 'file':
      return fetchFile(address, options)
    case 's3':
      return fetchS3(address, s3, options)
    case 'ogc':
    case 'wfs':
    case 'arcgis':
      return fetchPagesInThread(kind, address, options)
    case 'postgres':
      // Loaded when needed: the service itself may run on SQLite.
      return (await import('./fetch-postgres.ts')).fetchPostgres(address, request, options)
  }
}
