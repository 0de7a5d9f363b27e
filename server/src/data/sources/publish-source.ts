import { SECOND } from '../../base/clock.ts'
import type { Origin } from '../../base/events/events.ts'
import type { Config } from '../../base/settings/config.ts'
import type { PublishOptions, PublishReport, PublishRequest } from '../publishing/publish-request.ts'
import type { Publishing } from '../publishing/publishing.ts'
import type { Staging } from '../publishing/staging.ts'
import type { FetchedSource, Validators } from './fetch/fetch-options.ts'
import { type FetchRequest, fetchSource } from './fetch/fetch-source.ts'
import type { SourceCredentials } from './source-address.ts'
import { whileFetching } from './while-fetching.ts'

export interface SourceDeps {
  publishing: Publishing
  staging: Staging
  config: Pick<
    Config,
    | 'maxUploadBytes'
    | 'sourceSeconds'
    | 'sourceIdleSeconds'
    | 'minFreeBytes'
    | 'allowInternalAddresses'
    | 's3Endpoint'
    | 's3Region'
    | 's3PathStyle'
  >
}

export interface SourceRequest {
  source: FetchRequest
  credentials: SourceCredentials | null
  /** Whether the service's own credentials may be used for buckets: only for the operator. */
  isOperator: boolean
  publish: Omit<PublishRequest, 'path' | 'file'>
  /** What is known of the content that was published last. */
  validators?: Validators | undefined
}

export interface SourceOptions extends Omit<PublishOptions, 'alongside' | 'whole'> {
  signal: AbortSignal
  onBytes?: (bytes: number) => void
  /** Fetching waits for another server, and need not keep a place for publishing meanwhile. */
  beside?: <T>(work: () => Promise<T>) => Promise<T>
  alongside?: (fetched: Validators) => PublishOptions['alongside']
}

/** Fetches a source and publishes it. Returns null, and publishes nothing, if it has not changed. */
export async function publishSource(
  { source, credentials, isOperator, publish, validators }: SourceRequest,
  origin: Origin,
  { publishing, staging, config }: SourceDeps,
  { onBytes, alongside, beside, ...options }: SourceOptions,
): Promise<{ report: PublishReport; validators: Validators; bytes: number } | null> {
  const stage = staging.begin(publish.table)
  const s3 = { config, usesOwnCredentials: isOperator }
  // Which geometry of a database is read was decided when it was fetched.
  const geometryColumn = source.kind === 'postgres' ? undefined : publish.geometryColumn
  const publishFile = (
    { path, file }: Pick<FetchedSource, 'path' | 'file'>,
    more: Pick<PublishOptions, 'alongside' | 'whole'>,
  ) => publishing.publish({ ...publish, geometryColumn, path, file }, origin, { ...options, ...more })
  try {
    const limits = {
      totalMs: config.sourceSeconds * SECOND,
      idleMs: config.sourceIdleSeconds * SECOND,
      minFreeBytes: config.minFreeBytes,
    }
    const fetchOptions = {
      credentials,
      folder: stage.folder,
      maxBytes: config.maxUploadBytes,
      limits,
      allowInternal: config.allowInternalAddresses,
      signal: options.signal,
      validators,
      onBytes,
    }
    // A worker would keep a place for publishing while it waits for another server, and what is stored with the
    // version has to be known before.
    if (!beside && !alongside && !validators && publish.mode === undefined)
      return await whileFetching(
        (more) => fetchSource(source, { ...fetchOptions, ...more }, s3),
        publishFile,
        options.signal,
      )
    const fetch = () => fetchSource(source, fetchOptions, s3)
    const fetched = await (beside ? beside(fetch) : fetch())
    if (fetched === null) return null
    const report = await publishFile(fetched, { alongside: alongside?.(fetched.validators) })
    return { report, validators: fetched.validators, bytes: fetched.bytes }
  } finally {
    await stage.end()
  }
}
