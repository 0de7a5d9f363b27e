import { stat } from 'node:fs/promises'
import { type Deflated, deflateFile } from './deflate-blocks.ts'

const MAX_32 = 0xffffffff
const MAX_16 = 0xffff
const VERSION = 20
const VERSION_ZIP64 = 45
const DEFLATE = 8
/** Bit 11: names are UTF-8. */
const FLAGS = 0x0800

/** The target of a zip: a ByteSink, or anything with this subset of its methods. */
export interface ZipTarget {
  readonly length: number
  write(bytes: Uint8Array): void
  patch(position: number, bytes: Uint8Array): void
}

interface Entry extends Deflated {
  name: Buffer
  offset: number
  /** Whether its sizes may need more than 32 bits, estimated from the file's length. */
  large: boolean
}

/**
 * A zip file (PKWARE's APPNOTE.TXT) with Zip64 fields where a number needs them. Sizes are patched into the
 * local headers once they are known, because some readers do not support a data descriptor.
 */
export class ZipWriter {
  readonly #sink: ZipTarget
  readonly #date: Buffer
  readonly #entries: Entry[] = []

  constructor(sink: ZipTarget, modified: Date) {
    this.#sink = sink
    this.#date = dosDate(modified)
  }

  async addFile(name: string, path: string, signal?: AbortSignal): Promise<void> {
    const { size } = await stat(path)
    // DEFLATE adds a few bytes per block to data that it cannot compress.
    const large = size + size / 1000 + 1024 > MAX_32
    const entry: Entry = {
      name: Buffer.from(name),
      offset: this.#sink.length,
      large,
      crc: 0,
      bytes: 0,
      compressedBytes: 0,
    }
    this.#sink.write(this.#localHeader(entry))
    Object.assign(entry, await deflateFile(path, (bytes) => this.#sink.write(bytes), signal))
    this.#sink.patch(entry.offset, this.#localHeader(entry))
    this.#entries.push(entry)
  }

  finish(): void {
    const start = this.#sink.length
    for (const entry of this.#entries) this.#sink.write(this.#centralHeader(entry))
    const size = this.#sink.length - start
    const count = this.#entries.length
    if (start >= MAX_32 || count >= MAX_16) this.#sink.write(zip64End(count, size, start, this.#sink.length))
    const end = Buffer.alloc(22)
    end.writeUInt32LE(0x06054b50, 0)
    end.writeUInt16LE(Math.min(count, MAX_16), 8)
    end.writeUInt16LE(Math.min(count, MAX_16), 10)
    end.writeUInt32LE(Math.min(size, MAX_32), 12)
    end.writeUInt32LE(Math.min(start, MAX_32), 16)
    this.#sink.write(end)
  }

  #localHeader(entry: Entry): Buffer {
    const header = Buffer.alloc(30)
    header.writeUInt32LE(0x04034b50, 0)
    header.writeUInt16LE(entry.large ? VERSION_ZIP64 : VERSION, 4)
    header.writeUInt16LE(FLAGS, 6)
    header.writeUInt16LE(DEFLATE, 8)
    this.#date.copy(header, 10)
    header.writeUInt32LE(entry.crc, 14)
    header.writeUInt32LE(entry.large ? MAX_32 : entry.compressedBytes, 18)
    header.writeUInt32LE(entry.large ? MAX_32 : entry.bytes, 22)
    header.writeUInt16LE(entry.name.length, 26)
    const extra = entry.large ? zip64Field([entry.bytes, entry.compressedBytes]) : Buffer.alloc(0)
    header.writeUInt16LE(extra.length, 28)
    return Buffer.concat([header, entry.name, extra])
  }

  #centralHeader(entry: Entry): Buffer {
    const large = [entry.bytes, entry.compressedBytes, entry.offset].filter((number) => number >= MAX_32)
    const extra = large.length > 0 ? zip64Field(large) : Buffer.alloc(0)
    const header = Buffer.alloc(46)
    header.writeUInt32LE(0x02014b50, 0)
    const version = entry.large || extra.length > 0 ? VERSION_ZIP64 : VERSION
    header.writeUInt16LE((3 << 8) | version, 4)
    header.writeUInt16LE(version, 6)
    header.writeUInt16LE(FLAGS, 8)
    header.writeUInt16LE(DEFLATE, 10)
    this.#date.copy(header, 12)
    header.writeUInt32LE(entry.crc, 16)
    header.writeUInt32LE(Math.min(entry.compressedBytes, MAX_32), 20)
    header.writeUInt32LE(Math.min(entry.bytes, MAX_32), 24)
    header.writeUInt16LE(entry.name.length, 28)
    header.writeUInt16LE(extra.length, 30)
    header.writeUInt32LE((0o100644 << 16) >>> 0, 38)
    header.writeUInt32LE(Math.min(entry.offset, MAX_32), 42)
    return Buffer.concat([header, entry.name, extra])
  }
}

function zip64Field(numbers: number[]): Buffer {
  const field = Buffer.alloc(4 + numbers.length * 8)
  field.writeUInt16LE(1, 0)
  field.writeUInt16LE(numbers.length * 8, 2)
  for (const [i, number] of numbers.entries()) field.writeBigUInt64LE(BigInt(number), 4 + i * 8)
  return field
}

function zip64End(count: number, size: number, start: number, at: number): Buffer {
  const end = Buffer.alloc(56 + 20)
  end.writeUInt32LE(0x06064b50, 0)
  end.writeBigUInt64LE(44n, 4)
  end.writeUInt16LE((3 << 8) | VERSION_ZIP64, 12)
  end.writeUInt16LE(VERSION_ZIP64, 14)
  end.writeBigUInt64LE(BigInt(count), 24)
  end.writeBigUInt64LE(BigInt(count), 32)
  end.writeBigUInt64LE(BigInt(size), 40)
  end.writeBigUInt64LE(BigInt(start), 48)
  end.writeUInt32LE(0x07064b50, 56)
  end.writeBigUInt64LE(BigInt(at), 64)
  end.writeUInt32LE(1, 72)
  return end
}

/** Time, then date. DOS supports the years 1980 to 2107; UTC makes the bytes equal on every machine. */
function dosDate(date: Date): Buffer {
  const year = Math.min(Math.max(date.getUTCFullYear(), 1980), 2107)
  const bytes = Buffer.alloc(4)
  bytes.writeUInt16LE(
    (date.getUTCHours() << 11) | (date.getUTCMinutes() << 5) | (date.getUTCSeconds() >> 1),
    0,
  )
  bytes.writeUInt16LE(((year - 1980) << 9) | ((date.getUTCMonth() + 1) << 5) | date.getUTCDate(), 2)
  return bytes
}
