/** What a source may ask of us; past a limit it is refused with a sentence that names the limit. */
export interface SourceLimits {
  columns: number
  /** The largest single row or feature, in bytes. */
  rowBytes: number
  /** How deep arrays and objects may be nested in one value. */
  depth: number
  /** How large a compressed file may become. */
  decompressedBytes: number
  /** How many times larger than its compressed form; not asked below `RATIO_FREE_BYTES`. */
  compressionRatio: number
}

export const DEFAULT_LIMITS: SourceLimits = {
  columns: 2000,
  rowBytes: 64 << 20,
  depth: 100,
  decompressedBytes: 64 * 2 ** 30,
  compressionRatio: 200,
}

/** Small files of great regularity compress beyond any ratio and harm nobody. */
export const RATIO_FREE_BYTES = 64 << 20

export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1048576)} MB`
}
