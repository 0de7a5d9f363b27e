import type { CHANGES_FORMATS, ChangesFormat, ExportFormatEntry, Variant } from '@wayleave/geodata/exports'
import type { ReadableFile } from '@wayleave/geodata/snapshot'
import type { SignedAddress } from '../../../base/storage/object-store.ts'
import type { Dataset, Version } from '../../catalog/dataset.ts'

/** A format of whole versions, or a form of the changes between two. */
export type DownloadFormat = ExportFormatEntry | (typeof CHANGES_FORMATS)[ChangesFormat]

/** A file of a version in one format and one encoding. */
export interface ExportRequest {
  dataset: Dataset
  version: Version
  format: DownloadFormat
  encoding: 'identity' | Variant
  /** The earlier version that it is compared with: the file has the changes between the two. */
  since?: Version | undefined
  /** Whether the client named the version, which is then part of the name of the file. */
  isArchive?: boolean
  /** Whether shared caches may store the file: it was asked for without a key. */
  isShared?: boolean
  /** The id of the HTTP request that needs the file, for the log of the worker that builds it. */
  requestId?: string
}

export interface ExportDescription {
  mediaType: string
  encoding: 'identity' | 'gzip' | 'zstd'
  lastModified: Date
}

/** An open file. */
export interface SendableFile extends ReadableFile {
  /** Its number for the operating system; objects of a bucket have none. */
  descriptor?: number
  /**
   * Throws if the file was written to since it was opened; called before its last bytes are sent. Objects of a bucket
   * do not have it: their blocks are compared with checksums.
   */
  requireUnchanged?(): Promise<void>
}

/** A finished file on local disk or in a bucket, without the head and tail of an export. */
export interface StoredFile {
  bytes: number
  sha256: string
  /** Opens it for sending. Null if it is gone or has changed since it was verified. */
  open(): Promise<SendableFile | null>
  /** Null for a file in a bucket. */
  localPath: string | null
  /** An address at which clients can download it; null if they cannot. */
  signedAddress(address: SignedAddress): Promise<string | null>
}

/**
 * A finished export in one encoding: head bytes, a file, and tail bytes. For most exports, head and tail are
 * empty.
 */
export interface ExportFile
  extends ExportDescription,
    Pick<StoredFile, 'open' | 'localPath' | 'signedAddress'> {
  head: Buffer
  tail: Buffer
  /** The size of the file between head and tail. */
  fileBytes: number
  bytes: number
  /** A strong ETag: equal tags mean equal bytes. */
  etag: string
  /**
   * SHA-256 of all bytes of the published file, in base64, never of what is on disk now. Null until it is
   * known.
   */
  digest: string | null
  /**
   * The checksums to verify the file's blocks while they are sent. Null if the whole file was verified, or if
   * it is in a bucket, whose blocks are verified when they are fetched.
   */
  checked: CheckedBlocks | null
}

/** The checksums of a file of the snapshot. */
interface CheckedBlocks {
  name: string
  blocks: Uint32Array
  /** Whether the whole file was verified lately, so that its blocks need not be. */
  isVerified(): boolean
}

/** The properties of an export that are known before it is built. */
export function describeExport({ version, format, encoding }: ExportRequest): ExportDescription {
  return {
    mediaType: format.mediaType,
    encoding,
    lastModified: new Date(version.createdAt),
  }
}

/**
 * The name under which a browser saves the file, such as `places.csv`, `places-v3.csv` for an archive, or
 * `places-v2-v3.ndjson` for changes.
 */
export function fileNameOf({ dataset, version, format, since, isArchive = false }: ExportRequest): string {
  if (since) return `${dataset.table}-v${since.version}-v${version.version}.${format.extension}`
  return `${dataset.table}${isArchive ? `-v${version.version}` : ''}.${format.extension}`
}

export function toExportFile(
  request: ExportRequest,
  stored: StoredFile & { head?: Buffer; tail?: Buffer; checked?: ExportFile['checked'] },
): ExportFile {
  const {
    bytes,
    sha256,
    open,
    localPath,
    signedAddress,
    head = Buffer.alloc(0),
    tail = Buffer.alloc(0),
    checked = null,
  } = stored
  return {
    ...describeExport(request),
    open,
    localPath,
    signedAddress,
    head,
    tail,
    fileBytes: bytes,
    bytes: head.length + bytes + tail.length,
    etag: `"${sha256.slice(0, 32)}"`,
    digest: Buffer.from(sha256, 'hex').toString('base64'),
    checked,
  }
}
