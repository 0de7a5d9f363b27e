/** A buffer to be filled from `at` on. `view` covers the same bytes as `buffer`. */
export interface Room {
  buffer: Buffer
  view: DataView
  at: number
}

export interface GrowingRoom extends Room {
  /** Makes room for `bytes` more bytes in `buffer`, which may be replaced by another buffer. */
  reserve(bytes: number): void
}
