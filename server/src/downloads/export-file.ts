import type { FileStamp } from '../catalog/file-stamp.ts'

export interface ExportDescription {
  mediaType: string
  encoding: 'identity' | 'gzip' | 'zstd'
  /** What a browser saves it as. */
  filename: string
  lastModified: Date
}

/** A finished export in one encoding: bytes before, a file, bytes after. Most are the file alone. */
export interface ExportFile extends ExportDescription {
  path: string
  head: Buffer
  tail: Buffer
  /** Of the file between head and tail. */
  fileBytes: number
  bytes: number
  /** Strong: equal tags are equal bytes. */
  etag: string
  /** SHA-256 of all bytes, in base64, of the published file and never of what is on the disk now; null until it is known. */
  digest: string | null
  /** The state in which the file was verified: a file in another state is not sent. */
  stamp: FileStamp
  /** The checksums by which the file's blocks are checked while they are sent; null if it is verified whole. */
  checked: { name: string; blocks: Uint32Array } | null
}
