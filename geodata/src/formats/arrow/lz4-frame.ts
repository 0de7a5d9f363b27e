import { GrowingBytes } from '../../bytes/growing-bytes.ts'

const MAGIC = 0x184d2204

/**
 * Decompresses an LZ4 frame, the default compression of Feather files. Throws a RangeError if the frame is
 * damaged or larger than `maxBytes`. Checksums are not verified: Arrow's readers do not do so either.
 */
export function decompressLz4Frame(frame: Uint8Array, maxBytes: number): Uint8Array {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength)
  if (view.getUint32(0, true) !== MAGIC) throw new RangeError('not an LZ4 frame')
  const flags = frame[4]!
  const hasBlockChecksums = (flags & 0x10) !== 0
  const hasContentSize = (flags & 0x08) !== 0
  const hasDictionary = (flags & 0x01) !== 0
  let at = 7 + (hasContentSize ? 8 : 0) + (hasDictionary ? 4 : 0)
  const output = new Output(frame.length * 3, maxBytes)
  for (;;) {
    const header = view.getUint32(at, true)
    at += 4
    if (header === 0) break
    const length = header & 0x7fffffff
    const block = frame.subarray(at, at + length)
    if (block.length < length) throw new RangeError('the LZ4 frame is cut off')
    if (header >>> 31) output.append(block, 0, length)
    else decompressBlock(block, output)
    at += length + (hasBlockChecksums ? 4 : 0)
  }
  return output.bytes()
}

/** Decompresses a block without a frame, as in Parquet. */
export function decompressLz4Block(block: Uint8Array, maxBytes: number): Uint8Array {
  const output = new Output(block.length * 3, maxBytes)
  decompressBlock(block, output)
  return output.bytes()
}

/** The bytes written so far, which later sequences copy from. */
class Output extends GrowingBytes {
  constructor(bytes: number, maxBytes: number) {
    super(Math.min(Math.max(1 << 12, bytes), maxBytes), maxBytes)
  }

  append(from: Uint8Array, start: number, length: number): void {
    this.reserve(length)
    this.buffer.set(from.subarray(start, start + length), this.length)
    this.length += length
  }

  /** Repeats earlier output. Source and target may overlap, which repeats a pattern. */
  repeat(offset: number, length: number): void {
    if (offset === 0 || offset > this.length) throw new RangeError('LZ4 overrun')
    this.reserve(length)
    const { buffer, length: end } = this
    if (offset >= length) buffer.copyWithin(end, end - offset, end - offset + length)
    else for (let i = 0; i < length; i++) buffer[end + i] = buffer[end + i - offset]!
    this.length += length
  }
}

/** Each sequence is a run of literals, then a copy of earlier output. */
function decompressBlock(block: Uint8Array, output: Output): void {
  let at = 0
  while (at < block.length) {
    const token = block[at++]!
    let literals = token >> 4
    if (literals === 15) for (let more = 255; more === 255; literals += more) more = byteAt(block, at++)
    if (at + literals > block.length) throw new RangeError('LZ4 overrun')
    output.append(block, at, literals)
    at += literals
    // The last sequence has no copy.
    if (at >= block.length) break
    const offset = byteAt(block, at) | (byteAt(block, at + 1) << 8)
    at += 2
    let length = (token & 15) + 4
    if ((token & 15) === 15) for (let more = 255; more === 255; length += more) more = byteAt(block, at++)
    output.repeat(offset, length)
  }
}

function byteAt(bytes: Uint8Array, at: number): number {
  if (at >= bytes.length) throw new RangeError('LZ4 overrun')
  return bytes[at]!
}
