import type { SourceCredentials } from '../source-address.ts'
import type { FetchLimits } from './fetch-watch.ts'

/** What is known of the content that was fetched before. */
export interface Validators {
  etag: string | null
  lastModified: string | null
  /** SHA-256 of the file that was made of it. */
  checksum: string | null
}

export interface FetchOptions {
  credentials: SourceCredentials | null
  /** The folder for the file, which the caller removes. */
  folder: string
  maxBytes: number
  limits: FetchLimits
  /** Whether addresses inside the network are permitted (WAYLEAVE_ALLOW_INTERNAL_ADDRESSES). */
  allowInternal: boolean
  signal: AbortSignal
  /** Called with the size of everything that arrives, as it was sent. */
  received: (bytes: number) => void
  /** The validators of the last fetch; the source need not be fetched again if they still hold. */
  validators?: Validators | undefined
  /** Of a bucket, only the files that have these names below the prefix, if the source is still in this state. */
  only?: { names: string[]; lastModified: string } | undefined
  /** Called with the number of bytes fetched so far. */
  onBytes?: ((bytes: number) => void) | undefined
  /** Called with a file whose format states its end, so that it can be read while it is written. */
  onBegin?: ((begun: Pick<FetchedSource, 'path' | 'file'>) => void) | undefined
}

/** A source as a file that can be published. */
export interface FetchedSource {
  path: string
  /** The name for messages and the manifest. */
  file: string
  bytes: number
  validators: Validators
}

/** Null if the source has not changed. */
export type Fetched = FetchedSource | null
