import type { ExportFormatEntry, Variant } from '@wayleave/geodata/exports'
import type { Dataset, Version } from '../catalog/dataset.ts'
import type { FileStamp } from '../catalog/file-stamp.ts'

/** A file of a version in one format and one encoding. */
export interface ExportRequest {
  dataset: Dataset
  version: Version
  format: ExportFormatEntry
  encoding: 'identity' | Variant
}

export interface ExportDescription {
  mediaType: string
  encoding: 'identity' | 'gzip' | 'zstd'
  /** The name under which a browser saves the file. */
  filename: string
  lastModified: Date
}

/**
 * A finished export in one encoding: head bytes, a file, and tail bytes. For most exports, head and tail are
 * empty.
 */
export interface ExportFile extends ExportDescription {
  path: string
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
  /** The stamp under which the file was verified; a file with another stamp is not sent. */
  stamp: FileStamp
  /** The checksums to verify the file's blocks while they are sent. Null if the whole file was verified. */
  checked: { name: string; blocks: Uint32Array } | null
}
