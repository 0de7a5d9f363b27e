import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { idEnd } from '../../pack/pack.ts'
import { DamagedSnapshotError } from '../../snapshot/damaged-snapshot-error.ts'
import { hashId, idCandidates } from '../../snapshot/id-table.ts'
import type { IndexParts } from '../../snapshot/index-file.ts'
import { SNAPSHOT_FILES } from '../../snapshot/manifest.ts'

const WINDOW_BYTES = 1 << 20
/** The length of `,\n` between features. */
const SEPARATOR_BYTES = 2
/** The length of `{"type":"Feature","id":`. */
const ID_AT = 23

/**
 * The features of a pack by position, without holding the pack in memory. Reading in order is served from a window;
 * a feature elsewhere is read by itself, so that the window stays where the order continues.
 */
export class PackFeatures {
  /** The feature that was read last: it lies in `bytes` from `start` to `end`, until the next one is read. */
  bytes: Buffer
  start = 0
  end = 0
  readonly #index: IndexParts
  readonly #file: number
  readonly #window = Buffer.allocUnsafeSlow(WINDOW_BYTES)
  #windowFrom = 0
  #windowTo = 0
  #single = Buffer.allocUnsafeSlow(1 << 12)

  constructor(folder: string, index: IndexParts) {
    this.#index = index
    this.#file = openSync(join(folder, SNAPSHOT_FILES.pack), 'r')
    this.bytes = this.#window
  }

  get rows(): number {
    return this.#index.rows
  }

  read(position: number): void {
    const from = this.#index.offsets[position]!
    const to = this.#index.offsets[position + 1]! - SEPARATOR_BYTES
    const isNear = from >= this.#windowFrom && from <= this.#windowTo + WINDOW_BYTES
    if (!isNear || to - from > WINDOW_BYTES) {
      this.#readSingle(from, to - from)
      return
    }
    if (to > this.#windowTo) {
      this.#windowFrom = from
      this.#windowTo = from + readSync(this.#file, this.#window, 0, WINDOW_BYTES, from)
      if (to > this.#windowTo) throw tooShort()
    }
    this.bytes = this.#window
    this.start = from - this.#windowFrom
    this.end = to - this.#windowFrom
  }

  /** Whether the feature that was read last has these bytes. */
  equals(bytes: Buffer, start: number, end: number): boolean {
    if (end - start !== this.end - this.start) return false
    return this.bytes.compare(bytes, start, end, this.start, this.end) === 0
  }

  hasId(bytes: Buffer, idStart: number, idStop: number): boolean {
    const from = this.start + ID_AT
    const to = idEnd(this.bytes, from)
    return to - from === idStop - idStart && this.bytes.compare(bytes, idStart, idStop, from, to) === 0
  }

  /** Reads the feature with this id, given as JSON text. Returns its position, or -1 if there is none. */
  find(bytes: Buffer, idStart: number, idStop: number): number {
    const { idStarts, idPositions } = this.#index
    for (const position of idCandidates(hashId(bytes, idStart, idStop), idStarts, idPositions)) {
      this.read(position)
      if (this.hasId(bytes, idStart, idStop)) return position
    }
    return -1
  }

  close(): void {
    closeSync(this.#file)
  }

  #readSingle(from: number, length: number): void {
    if (length > this.#single.length) this.#single = Buffer.allocUnsafeSlow(length * 2)
    for (let at = 0; at < length; ) {
      const bytesRead = readSync(this.#file, this.#single, at, length - at, from + at)
      if (bytesRead === 0) throw tooShort()
      at += bytesRead
    }
    this.bytes = this.#single
    this.start = 0
    this.end = length
  }
}

function tooShort(): DamagedSnapshotError {
  return new DamagedSnapshotError(
    SNAPSHOT_FILES.pack,
    `${SNAPSHOT_FILES.pack} is shorter than its index says.`,
  )
}
