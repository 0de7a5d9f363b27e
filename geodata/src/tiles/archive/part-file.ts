import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { readFullySync } from '../../bytes/read-fully.ts'
import { ByteSink } from '../../exports/byte-sink.ts'
import type { PartitionPlace } from './partition-file.ts'

const COPY_BYTES = 1 << 20
/** The number of partitions, a float64, at the end of the file. */
const TAIL_BYTES = 8

/** Writes the files of partitions one after the other to one file; their lengths follow. Returns its SHA-256. */
export function writePart(path: string, partitions: readonly string[]): string {
  const sink = new ByteSink(path)
  try {
    const lengths = partitions.map((partition) => copyTo(sink, partition))
    const tail = Buffer.from(Float64Array.of(...lengths, lengths.length).buffer)
    sink.write(tail)
    return sink.close()!
  } finally {
    sink.abandon()
  }
}

function copyTo(sink: ByteSink, path: string): number {
  const file = openSync(path, 'r')
  try {
    const buffer = Buffer.allocUnsafe(COPY_BYTES)
    let length = 0
    for (let read = 1; read > 0; length += read) {
      read = readSync(file, buffer)
      sink.write(buffer.subarray(0, read))
    }
    return length
  } finally {
    closeSync(file)
  }
}

/** Where the partitions of a part are. */
export function partitionsOf(path: string): PartitionPlace[] {
  const file = openSync(path, 'r')
  try {
    const read = (from: number, to: number) => {
      const bytes = Buffer.alloc(Math.max(0, to - from))
      if (from < 0 || readFullySync(file, bytes, from) < bytes.length)
        throw new Error('the file of a part of the tiles ends too early')
      return bytes
    }
    const end = fstatSync(file).size - TAIL_BYTES
    const count = read(end, end + TAIL_BYTES).readDoubleLE()
    const lengths = read(end - count * 8, end)
    const places: PartitionPlace[] = []
    for (let at = 0, from = 0; at < lengths.length; at += 8) {
      const to = from + lengths.readDoubleLE(at)
      places.push({ path, from, to })
      from = to
    }
    return places
  } finally {
    closeSync(file)
  }
}
