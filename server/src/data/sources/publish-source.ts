import { SECOND } from '../../base/clock.ts'
import type { Origin } from '../../base/events/events.ts'
import type { Config } from '../../base/settings/config.ts'
import type { PublishOptions, PublishReport, PublishRequest } from '../publishing/publish-request.ts'
import type { Publishing } from '../publishing/publishing.ts'
import type { Staging } from '../publishing/staging.ts'
import type { Validators } from './fetch/fetch-options.ts'
import { type FetchRequest, fetchSource } from './fetch/fetch-source.ts'
import type { SourceCredentials } from './source-address.ts'

export interface SourceDeps {
  publishing: Publishing
  staging: Staging
  config: Pick<
    Config,
    | 'maxUploadBytes'
    | 'sourceSeconds'
    | 'sourceIdleSeconds'
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

export interface SourceOptions extends Omit<PublishOptions, 'alongside'> {
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
  { onBytes, alongside, beside = (work) => work(), ...options }: SourceOptions,
): Promise<{ report: PublishReport; validators: Validators; bytes: number } | null> {
  const stage = staging.begin(publish.table)
  try {
    const limits = { totalMs: config.sourceSeconds * SECOND, idleMs: config.sourceIdleSeconds * SECOND }
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
    const fetched = await beside(() =>
      fetchSource(source, fetchOptions, { config, usesOwnCredentials: isOperator }),
    )
    if (fetched === null) return null
    const { path, file } = fetched
    // Which geometry of a database is read was decided when it was fetched.
    const geometryColumn = source.kind === 'postgres' ? undefined : publish.geometryColumn
    const report = await publishing.publish({ ...publish, geometryColumn, path, file }, origin, {
      ...options,
      alongside: alongside?.(fetched.validators),
    })
    return { report, validators: fetched.validators, bytes: fetched.bytes }
  } finally {
    await stage.end()
  }
}
