import type { ByteSpan } from '@wayleave/geodata/snapshot'

export interface ObjectInfo {
  key: string
  bytes: number
  /** When the object was written, by the store's clock. */
  modifiedAt: Date
}

export interface CallOptions {
  /** How long a failed call is repeated, in ms. */
  patienceMs?: number
  signal?: AbortSignal | undefined
}

/** Headers that the store sends with an object that is downloaded by a signed address. */
export interface SignedAddress {
  /** Seconds for which the address is valid. */
  lifetime: number
  mediaType: string
  filename: string
  encoding: string | null
}

/**
 * Objects with keys such as `snapshots/places_…/features.pack`, in a folder or in an S3 bucket. An object appears
 * whole or not at all, and never changes unless it is written again. Every method throws a
 * StorageUnavailableError if the store cannot be reached.
 */
export interface ObjectStore {
  /** Where the objects are, without credentials, for messages. */
  readonly location: string
  /** The bytes of an object or of a part of it. Throws an ObjectMissingError. */
  read(key: string, span?: ByteSpan, options?: CallOptions): Promise<Buffer>
  /** Writes a whole object. Its checksum is verified by the store. */
  write(key: string, content: Uint8Array | LocalFile, options?: CallOptions): Promise<void>
  /** Null if the object does not exist. */
  head(key: string, options?: CallOptions): Promise<ObjectInfo | null>
  /** All objects whose keys begin with `prefix`, in the order of their keys. */
  list(prefix: string, options?: CallOptions): AsyncIterable<ObjectInfo>
  /** The names between `prefix`, which ends with a slash, and the next slash: the folders inside it. */
  listFolders(prefix: string, options?: CallOptions): Promise<string[]>
  /** Objects that do not exist are skipped. */
  delete(keys: readonly string[], options?: CallOptions): Promise<void>
  /** An address at which a client can download the object without credentials; null if there is none. */
  signedAddress(key: string, address: SignedAddress): Promise<string | null>
  /** The path of the object's file, if objects are files. */
  localPath?(key: string): string
  close(): Promise<void>
}

/** A file on local disk whose content is to be stored. */
export interface LocalFile {
  path: string
  bytes: number
}

/** The object does not exist, or is shorter than the part that was asked for. */
export class ObjectMissingError extends Error {
  override name = 'ObjectMissingError'
  readonly key: string

  constructor(key: string, options?: ErrorOptions) {
    super(`The object ${key} does not exist or is too short.`, options)
    this.key = key
  }
}

/** The store did not respond in time, or refused the call. Clients get 503 and may try again. */
export class StorageUnavailableError extends Error {
  override name = 'StorageUnavailableError'
}
