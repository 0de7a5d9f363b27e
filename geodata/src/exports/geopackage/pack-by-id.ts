import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { FeatureSlices, type PackBlock, readPack } from '../../pack/pack-reader.ts'
import { parseNumber } from '../geometry/geometry-bytes.ts'

/** Bytes of features that are in memory at once. */
const PART_BYTES = 64 << 20
/** Each part is an open file. */
const MAX_PARTS = 256
const WRITE_BYTES = 1 << 18
const BLOCK_FEATURES = 4096

export interface IdOrder {
  /** The positions of the features in the order of their ids. */
  positions: Uint32Array
  /** The number of bytes of the feature at each position. */
  lengths: Uint32Array
}

interface Division {
  /** A folder for scratch files, which is removed at the end. */
  scratch: string
  partBytes?: number
  signal?: AbortSignal | undefined
}

/** Reads the integer ids of all features. Returns null if their order is that of the pack. */
export async function readIdOrder(
  folder: string,
  manifest: { rows: number },
  signal?: AbortSignal,
): Promise<IdOrder | null> {
  const ids = new Float64Array(manifest.rows)
  const lengths = new Uint32Array(manifest.rows)
  const slices = new FeatureSlices()
  let position = 0
  let isOrdered = true
  for await (const { bytes, count, starts, ends } of readPack(folder, manifest, signal)) {
    for (let i = 0; i < count; i++) {
      slices.locateId(bytes, starts[i]!)
      lengths[position] = ends[i]! - starts[i]!
      ids[position] = parseNumber(bytes, slices.idStart, slices.idEnd)
      isOrdered &&= position === 0 || ids[position - 1]! < ids[position]!
      position++
    }
  }
  if (isOrdered) return null
  const positions = Uint32Array.from(ids, (_, i) => i).sort((a, b) => ids[a]! - ids[b]!)
  return { positions, lengths }
}

/**
 * The features of the pack in the order of their ids. The pack is first divided into files of consecutive ids, so that memory is bounded and every file is read and written sequentially.
 */
export async function* readPackById(
  folder: string,
  manifest: { rows: number },
  { positions, lengths }: IdOrder,
  { scratch, partBytes = PART_BYTES, signal }: Division,
): AsyncGenerator<PackBlock> {
  const ends = partEnds({ positions, lengths }, partBytes)
  const partOf = new Uint8Array(positions.length)
  for (const [part, end] of ends.entries())
    for (let k = ends[part - 1] ?? 0; k < end; k++) partOf[positions[k]!] = part
  mkdirSync(scratch, { recursive: true })
  const parts = ends.map((_, part) => new PartFile(join(scratch, String(part))))
  try {
    const offsets = new Uint32Array(positions.length)
    let position = 0
    for await (const { bytes, count, starts, ends } of readPack(folder, manifest, signal)) {
      for (let i = 0; i < count; i++, position++)
        offsets[position] = parts[partOf[position]!]!.append(bytes, starts[i]!, ends[i]!)
    }
    for (const [part, end] of ends.entries()) {
      signal?.throwIfAborted()
      const bytes = parts[part]!.read()
      for (let first = ends[part - 1] ?? 0; first < end; first += BLOCK_FEATURES) {
        const selected = positions.subarray(first, Math.min(first + BLOCK_FEATURES, end))
        const starts = Int32Array.from(selected, (each) => offsets[each]!)
        const endsOf = Int32Array.from(selected, (each) => offsets[each]! + lengths[each]!)
        yield { bytes, count: selected.length, starts, ends: endsOf }
      }
    }
  } finally {
    for (const part of parts) part.close()
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** For each part, the number of features in it and in all parts before it. */
function partEnds({ positions, lengths }: IdOrder, partBytes: number): number[] {
  const total = lengths.reduce((sum, length) => sum + length, 0)
  const most = Math.max(partBytes, Math.ceil((total / MAX_PARTS) * 2))
  const ends: number[] = []
  let bytes = 0
  for (let k = 0; k < positions.length; k++) {
    const length = lengths[positions[k]!]!
    if (bytes > 0 && bytes + length > most) {
      ends.push(k)
      bytes = 0
    }
    bytes += length
  }
  return [...ends, positions.length]
}

/** A scratch file to which features are appended, and which is then read once. */
class PartFile {
  readonly #path: string
  readonly #pending = Buffer.allocUnsafeSlow(WRITE_BYTES)
  #held = 0
  #written = 0
  #file: number

  constructor(path: string) {
    this.#path = path
    this.#file = openSync(path, 'w')
  }

  /** Returns the offset of the feature in the file. */
  append(bytes: Buffer, start: number, end: number): number {
    const length = end - start
    if (this.#held + length > this.#pending.length) this.#flush()
    const offset = this.#written + this.#held
    if (length > this.#pending.length) {
      this.#write(bytes.subarray(start, end))
      return offset
    }
    bytes.copy(this.#pending, this.#held, start, end)
    this.#held += length
    return offset
  }

  /** All bytes; nothing can be appended afterwards. */
  read(): Buffer {
    this.#flush()
    this.close()
    const bytes = readFileSync(this.#path)
    rmSync(this.#path)
    return bytes
  }

  close(): void {
    if (this.#file >= 0) closeSync(this.#file)
    this.#file = -1
  }

  #flush(): void {
    this.#write(this.#pending.subarray(0, this.#held))
    this.#held = 0
  }

  #write(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length; ) done += writeSync(this.#file, bytes, done)
    this.#written += bytes.length
  }
}
