/** Limits for a source. A source that exceeds one is rejected with a sentence that names the limit. */
export interface SourceLimits {
  columns: number
  /** The max size of a single row or feature, in bytes. */
  rowBytes: number
  /** The max nesting depth of arrays and objects in one value. */
  depth: number
  /** The max decompressed size of a compressed file, in bytes. */
  decompressedBytes: number
  /** The max ratio of decompressed to compressed size; not checked below `RATIO_FREE_BYTES`. */
  compressionRatio: number
}

export const DEFAULT_LIMITS: SourceLimits = {
  columns: 2000,
  rowBytes: 64 << 20,
  depth: 100,
  decompressedBytes: 64 * 2 ** 30,
  compressionRatio: 200,
}

/** Small, very regular files can exceed any compression ratio and are harmless. */
export const RATIO_FREE_BYTES = 64 << 20

export function megabytes(bytes: number): string {
  return bytes < 1048576 ? `${bytes} bytes` : `${Math.round(bytes / 1048576)} MB`
}

/** The end of the sentence about a row or feature that exceeds `rowBytes`. */
export function largerThan(rowBytes: number): string {
  return `larger than ${megabytes(rowBytes)}, the limit of WAYLEAVE_MAX_FEATURE_BYTES`
}
