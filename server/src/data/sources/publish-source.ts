import { SECOND } from '../../base/clock.ts'
import type { Origin } from '../../base/events/events.ts'
import type { Config } from '../../base/settings/config.ts'
import type { PublishOptions, PublishReport, PublishRequest } from '../publishing/publish-request.ts'
import type { Publishing } from '../publishing/publishing.ts'
import type { Staging } from '../publishing/staging.ts'
import type { FetchedSource, FetchOptions, Validators } from './fetch/fetch-options.ts'
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
  /** How a source in a bucket is compiled, which other workers can read too, if it is still in this state. */
  share?: ((lastModified: string) => PublishOptions['compile']) | undefined
}

/** Fetches a source and publishes it. Returns null, and publishes nothing, if it has not changed. */
export async function publishSource(
  { source, credentials, isOperator, publish, validators }: SourceRequest,
  origin: Origin,
  { publishing, staging, config }: SourceDeps,
  { onBytes, alongside, beside, share, ...options }: SourceOptions,
): Promise<{ report: PublishReport; validators: Validators; bytes: number } | null> {
  const stage = staging.begin(publish.table)
  const s3 = { config, usesOwnCredentials: isOperator }
  // Which geometry of a database is read was decided when it was fetched.
  const geometryColumn = source.kind === 'postgres' ? undefined : publish.geometryColumn
  const publishFile = (
    { path, file }: Pick<FetchedSource, 'path' | 'file'>,
    more: Pick<PublishOptions, 'alongside' | 'whole' | 'compile'>,
  ) => publishing.publish({ ...publish, geometryColumn, path, file }, origin, { ...options, ...more })
  try {
    const { signal } = options
    const limits = fetchLimits(config)
    const fetchOptions = { ...limits, credentials, folder: stage.folder, signal, validators, onBytes }
    // A worker would keep a place for publishing while it waits for another server, and what is stored with the
    // version has to be known before.
    if (!beside && !alongside && !validators && publish.mode === undefined)
      return await whileFetching(
        (more) => fetchSource(source, { ...fetchOptions, ...more }, s3),
        publishFile,
        signal,
      )
    const fetch = () => fetchSource(source, fetchOptions, s3)
    const fetched = await (beside ? beside(fetch) : fetch())
    if (fetched === null) return null
    const { lastModified } = fetched.validators
    const compile = source.kind === 's3' && lastModified !== null ? share?.(lastModified) : undefined
    const report = await publishFile(fetched, {
      ...{ alongside: alongside?.(fetched.validators) },
      ...(compile && { compile }),
    })
    return { report, validators: fetched.validators, bytes: fetched.bytes }
  } finally {
    await stage.end()
  }
}

/** Fetches the files that a part of a source in a bucket reads. Returns the path of the source. */
export async function fetchPart(
  { source, credentials, isOperator }: Pick<SourceRequest, 'source' | 'credentials' | 'isOperator'>,
  { config }: Pick<SourceDeps, 'config'>,
  { folder, signal, only }: Required<Pick<FetchOptions, 'folder' | 'signal' | 'only'>>,
): Promise<string> {
  const s3 = { config, usesOwnCredentials: isOperator }
  const fetched = await fetchSource(source, { ...fetchLimits(config), credentials, folder, signal, only }, s3)
  return fetched!.path
}

function fetchLimits(config: SourceDeps['config']) {
  return {
    maxBytes: config.maxUploadBytes,
    limits: {
      totalMs: config.sourceSeconds * SECOND,
      idleMs: config.sourceIdleSeconds * SECOND,
      minFreeBytes: config.minFreeBytes,
    },
    allowInternal: config.allowInternalAddresses,
  }
}
