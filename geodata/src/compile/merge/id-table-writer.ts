import { closeSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { readFullySync } from '../../bytes/read-fully.ts'
import { buildIdTable, idBuckets } from '../../snapshot/id-table.ts'
import type { SectionWriter } from './section-writer.ts'
import { writeWhole } from './section-writer.ts'

/** How many ids are sorted in memory at once: 64 MB. */
const PARTITION_ROWS = 1 << 22
/** The hashes and positions of a partition that are gathered before they are written. */
const BUFFER_NUMBERS = 1 << 15

/**
 * Builds the look-up by id from hashes that come in the order of the features. Buckets are divided into partitions
 * of a size that fits into memory. If there are several, their ids wait in files.
 */
export class IdTableWriter {
  readonly #partitions: Partition[]
  readonly #bucketMask: number
  readonly #partitionBits: number
  readonly #partitionBuckets: number
  #rows = 0

  constructor(rows: number, folder: string, partitionRows = PARTITION_ROWS) {
    const buckets = idBuckets(rows)
    const wanted = 2 ** Math.max(0, Math.ceil(Math.log2(Math.max(1, rows / partitionRows))))
    const count = Math.min(wanted, buckets)
    this.#bucketMask = buckets - 1
    this.#partitionBuckets = buckets / count
    this.#partitionBits = Math.log2(this.#partitionBuckets)
    this.#partitions = Array.from({ length: count }, (_, i) =>
      count === 1 ? new Partition(rows * 2, null) : new Partition(BUFFER_NUMBERS, join(folder, `ids-${i}`)),
    )
  }

  /** Adds the hash of the next feature's id. */
  add(hash: number): void {
    this.#partitions[(hash & this.#bucketMask) >>> this.#partitionBits]!.add(hash, this.#rows++)
  }

  /** Writes the starts of all buckets and the positions. */
  finish(starts: SectionWriter, positions: SectionWriter): void {
    let before = 0
    // The same memory for all partitions: that of each would wait for a collection, which large datasets outrun.
    const room = Math.max(...this.#partitions.map((partition) => partition.rows))
    // A single one has its pairs in memory.
    const allPairs = new Uint32Array(this.#partitions.length > 1 ? room * 2 : 0)
    const [allHashes, allPositions] = [new Uint32Array(room), new Uint32Array(room)]
    const ownStarts = new Uint32Array(this.#partitionBuckets + 1)
    for (const partition of this.#partitions) {
      const pairs = partition.take(allPairs)
      const rows = pairs.length / 2
      const hashes = allHashes.subarray(0, rows)
      for (let i = 0; i < rows; i++) hashes[i] = pairs[i * 2]!
      const order = allPositions.subarray(0, rows)
      ownStarts.fill(0)
      buildIdTable(hashes, ownStarts, order)
      for (let bucket = 0; bucket < this.#partitionBuckets; bucket++) starts.add(before + ownStarts[bucket]!)
      for (let i = 0; i < rows; i++) positions.add(pairs[order[i]! * 2 + 1]!)
      before += rows
    }
    starts.add(before)
  }

  close(): void {
    for (const partition of this.#partitions) partition.close()
  }
}

/** Pairs of a hash and a position, in a file if there is a path. */
class Partition {
  readonly #path: string | null
  readonly #handle: number | null
  #buffer: Uint32Array<ArrayBuffer>
  #count = 0
  #written = 0
  #isClosed = false

  constructor(numbers: number, path: string | null) {
    this.#buffer = new Uint32Array(numbers)
    this.#path = path
    this.#handle = path === null ? null : openSync(path, 'w+')
  }

  add(hash: number, position: number): void {
    if (this.#count === this.#buffer.length) this.#flush()
    this.#buffer[this.#count++] = hash
    this.#buffer[this.#count++] = position
  }

  get rows(): number {
    return (this.#written / 4 + this.#count) / 2
  }

  /** All pairs, in `room` if they are in a file. The partition is empty then. */
  take(room: Uint32Array): Uint32Array {
    const pairs =
      this.#handle === null ? this.#buffer.subarray(0, this.#count) : this.#read(this.#handle, room)
    this.#buffer = new Uint32Array(0)
    this.close()
    return pairs
  }

  close(): void {
    if (this.#isClosed || this.#path === null) return
    this.#isClosed = true
    closeSync(this.#handle!)
    rmSync(this.#path, { force: true })
  }

  #read(handle: number, room: Uint32Array): Uint32Array {
    this.#flush()
    const pairs = room.subarray(0, this.#written / 4)
    const bytes = new Uint8Array(pairs.buffer, pairs.byteOffset, pairs.byteLength)
    if (readFullySync(handle, bytes, 0) < bytes.length)
      throw new Error('the ids of a partition end too early')
    return pairs
  }

  #flush(): void {
    const bytes = new Uint8Array(this.#buffer.buffer, 0, this.#count * 4)
    writeWhole(this.#handle!, bytes, this.#written)
    this.#written += bytes.length
    this.#count = 0
  }
}
