/** Limits for a source. A source that exceeds one is rejected with a sentence that names the limit. */
export interface SourceLimits {
  columns: number
  /** The max size of a single row or feature, in bytes. */
  rowBytes: number
  /** The max nesting depth of arrays and objects in one value. */
  depth: number
  /** The max decompressed size of a compressed file, in bytes. */
  decompressedBytes: number
  /**
   * The max ratio of decompressed to compressed size, and of the values of a dataset to its file; neither is
   * checked below `ratioFreeBytes`.
   */
  compressionRatio: number
  /** Small, very regular files can exceed any ratio and are harmless. */
  ratioFreeBytes: number
}

export const DEFAULT_LIMITS: SourceLimits = {
  columns: 2000,
  rowBytes: 64 << 20,
  depth: 100,
  decompressedBytes: 64 * 2 ** 30,
  compressionRatio: 200,
  ratioFreeBytes: 64 << 20,
}

/** All limits, those that are not given by default. */
export function limitsOf(limits: Partial<SourceLimits> = {}): SourceLimits {
  const given = Object.entries(limits).filter(([, value]) => value !== undefined)
  return { ...DEFAULT_LIMITS, ...Object.fromEntries(given) }
}

/**
 * Columnar formats store a value that all rows share once, so an honest file of a few kilobytes may hold millions
 * of rows: 10 million rows with a constant text of 40 characters and a number are 480 MB of values.
 */
const COLUMNAR_FACTOR = 16
/** A number of one byte in SQLite takes eight bytes as a value, and a text of ASCII at most as many as in the file. */
const UNPACKED_FACTOR = 16

const WRITTEN_FACTOR = 16

/**
 * How many bytes the values of a file may take together: texts by their characters, numbers 8 bytes, geometries
 * as WKB. This bounds every value that a reader makes of fewer bytes of the file: shared strings, repeated rows,
 * dictionaries, run lengths, views, shared arcs.
 */
export function maxValueBytes(
  fileBytes: number,
  { compressionRatio, ratioFreeBytes, decompressedBytes }: SourceLimits,
  isColumnar = false,
): number {
  const expanded = fileBytes * compressionRatio
  if (isColumnar) return Math.max(ratioFreeBytes * COLUMNAR_FACTOR, expanded)
  return Math.max(
    ratioFreeBytes,
    Math.min(expanded, Math.max(decompressedBytes, fileBytes * UNPACKED_FACTOR)),
  )
}

/**
 * How much of the disk the compilation of a file may take at any time: rows are staged, sorted and written in
 * several forms, and a row of one number takes about 100 bytes with its names, keys and index entries.
 */
export function maxWrittenBytes(fileBytes: number, limits: SourceLimits): number {
  return maxValueBytes(fileBytes, limits, true) * WRITTEN_FACTOR
}

/** The sentence about a file whose values exceed `maxValueBytes`. */
export function expandsBeyond(file: string, maxBytes: number, fileBytes: number): string {
  return `${file} holds more than ${megabytes(maxBytes)} of values, although it has only ${megabytes(fileBytes)}. WAYLEAVE_MAX_EXPANSION sets how many times larger than its file a dataset may be.`
}

export function megabytes(bytes: number): string {
  return bytes < 1048576 ? `${bytes} bytes` : `${Math.round(bytes / 1048576)} MB`
}

/** The end of the sentence about a row or feature that exceeds `rowBytes`. */
export function largerThan(rowBytes: number): string {
  return `larger than ${megabytes(rowBytes)}, the limit of WAYLEAVE_MAX_FEATURE_BYTES`
}
