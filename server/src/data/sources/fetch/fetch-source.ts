import type { SourceKind } from '../source-address.ts'
import { fetchArcgis } from './fetch-arcgis.ts'
import { fetchFile } from './fetch-file.ts'
import { fetchOgcFeatures } from './fetch-ogc-features.ts'
import type { Fetched, FetchOptions } from './fetch-options.ts'
import type { PostgresChoice } from './fetch-postgres.ts'
import { fetchS3, type S3Access } from './fetch-s3.ts'
import { FetchWatch } from './fetch-watch.ts'
import { fetchWfs } from './fetch-wfs.ts'

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
  const watch = new FetchWatch(options.signal, options.limits)
  const received = (bytes: number) => watch.received(bytes)
  try {
    const fetched = await fetchKind(request, { ...options, signal: watch.signal, received }, s3)
    const checksum = options.validators?.checksum ?? null
    return fetched !== null && fetched.validators.checksum === checksum ? null : fetched
  } finally {
    watch.end()
  }
}

async function fetchKind(request: FetchRequest, options: FetchOptions, s3: S3Access): Promise<Fetched> {
  const { kind, address } = request
  switch (kind) {
    case 'file':
      return fetchFile(address, options)
    case 's3':
      return fetchS3(address, s3, options)
    case 'ogc':
      return fetchOgcFeatures(address, options)
    case 'wfs':
      return fetchWfs(address, options)
    case 'arcgis':
      return fetchArcgis(address, options)
    case 'postgres':
      // Loaded when needed: the service itself may run on SQLite.
      return (await import('./fetch-postgres.ts')).fetchPostgres(address, request, options)
  }
}
