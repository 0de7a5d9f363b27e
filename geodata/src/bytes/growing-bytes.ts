/** A byte buffer that grows while protocol buffer fields are appended to it. */
export class GrowingBytes {
  buffer = Buffer.allocUnsafeSlow(1 << 12)
  length = 0

  /** Makes room for `bytes` more bytes. */
  reserve(bytes: number): void {
    if (this.length + bytes <= this.buffer.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(this.buffer.length * 2, this.length + bytes))
    this.buffer.copy(larger, 0, 0, this.length)
    this.buffer = larger
  }

  byte(value: number): void {
    this.reserve(1)
    this.buffer[this.length++] = value
  }

  /** Appends an unsigned integer of at most 53 bits. */
  varint(value: number): void {
    this.reserve(8)
    this.length = writeVarint(this.buffer, this.length, value)
  }

  copy(from: Buffer, start: number, end: number): void {
    this.reserve(end - start)
    from.copy(this.buffer, this.length, start, end)
    this.length += end - start
  }

  bytes(): Buffer {
    return this.buffer.subarray(0, this.length)
  }
}

export function writeVarint(buffer: Buffer, at: number, value: number): number {
  let rest = value
  let to = at
  for (; rest > 0x7fff_ffff; rest = Math.floor(rest / 128)) buffer[to++] = (rest % 128) | 0x80
  for (; rest > 127; rest >>>= 7) buffer[to++] = (rest & 0x7f) | 0x80
  buffer[to++] = rest
  return to
}

export function varintLength(value: number): number {
  if (value < 0x80) return 1
  if (value < 0x4000) return 2
  if (value < 0x20_0000) return 3
  if (value < 0x1000_0000) return 4
  let length = 5
  for (let rest = value / 2 ** 35; rest >= 1; rest /= 128) length++
  return length
}
