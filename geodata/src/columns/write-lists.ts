import type { FileHandle } from 'node:fs/promises'
import { readFully } from '../bytes/read-fully.ts'
import { PlaneMemory, splitIntoPlanes, unpackBytes } from './byte-planes.ts'
import { joinPlanes } from './code-tables.ts'
import type { Section } from './column-file.ts'
import type { Packed } from './dictionary.ts'
import { startsOf } from './unpack-column.ts'

/** The max rows of the order that are in memory at once: 128 MB. */
const PASS_ROWS = 1 << 25

/** The number of rows of each code, as byte planes. `counts` is no longer needed when this function returns. */
export function packCounts(counts: Uint32Array): Promise<Packed> {
  return new PlaneMemory(0, false).pack(counts.length * 4, (planes) =>
    splitIntoPlanes(counts, planes, 4, counts.length, 0),
  )
}

interface WrittenCodes {
  handle: FileHandle
  /** By segment. */
  sections: readonly Section[]
  width: number
  /** How many rows have each code. */
  counts: Uint32Array
}

/**
 * Yields the rows by their codes, in parts, from codes that were written. Each part takes a pass over all codes, so that
 * any number of rows is ordered in bounded memory. A part is valid until the next one.
 */
export async function* orderedParts(codes: WrittenCodes, passRows = PASS_ROWS): AsyncGenerator<Uint32Array> {
  const starts = startsOf(codes.counts)
  const rows = starts.at(-1)!
  const room = new Uint32Array(Math.min(rows, passRows))
  for (let from = 0; from < rows; from += passRows) {
    const part = room.subarray(0, Math.min(rows - from, passRows))
    const places = starts.slice()
    let row = 0
    for (const section of codes.sections) {
      const segment = await readCodes(codes, section)
      placeRows(segment, row, places, from, part)
      row += segment.length
    }
    yield part
  }
}

async function readCodes({ handle, width }: WrittenCodes, section: Section): Promise<Uint32Array> {
  const packed = Buffer.allocUnsafeSlow(section.bytes)
  await readFully(handle, packed, section.at)
  const codes = new Uint32Array(section.size / width)
  joinPlanes(await unpackBytes(packed, section.size), codes, width)
  return codes
}

/** Puts the rows, of which the first is `firstRow`, at their places in a part of the order that begins at `from`. */
function placeRows(
  codes: Uint32Array,
  firstRow: number,
  places: Uint32Array,
  from: number,
  part: Uint32Array,
): void {
  for (let i = 0; i < codes.length; i++) {
    const place = places[codes[i]!]!++ - from
    if (place >= 0 && place < part.length) part[place] = firstRow + i
  }
}
