import { crc32 } from 'node:zlib'
import { unpackBytes } from './byte-planes.ts'
import { codeBitmaps } from './code-bitmaps.ts'
import { damagedColumns, type Section, type StoredColumn } from './column-file.ts'
import { BLOCK_ROWS, BLOCK_SHIFT, type Codes, type ColumnParts } from './compiled-column.ts'
import { unpackKeys, unpackTexts } from './dictionary.ts'

/** A column as it is stored. */
export interface PackedColumn {
  rows: number
  stored: StoredColumn
  dictionary: Uint8Array<ArrayBuffer>
  codes: Uint8Array<ArrayBuffer>
}

/** Makes a column of its sections: 20 to 80 ms of processor time for a million rows. Throws a DamagedSnapshotError. */
export async function unpackColumn({ rows, stored, ...sections }: PackedColumn): Promise<ColumnParts> {
  const { form, distinct, dictionary, codes, width } = stored
  verifySection(sections.dictionary, dictionary)
  verifySection(sections.codes, codes)
  // Both sections are decompressed at the same time.
  const [values, planes] = await Promise.all([
    form === 'text'
      ? unpackTexts(sections.dictionary, dictionary.size)
      : unpackKeys(sections.dictionary, dictionary.size, form === 'number'),
    unpackBytes(sections.codes, codes.size),
  ])
  if (values.length !== distinct) throw damagedColumns('has another number of values than its directory says')
  const wide = codesOf(planes, rows, width)
  const { starts, order } = postingLists(wide, distinct + 1)
  return {
    values,
    codes: narrowed(wide, width),
    starts,
    order,
    ...blockRanges(wide, width),
    ...codeBitmaps(starts, order),
  }
}

function verifySection(bytes: Uint8Array, section: Section): void {
  if (crc32(bytes) !== section.crc32) throw damagedColumns('has another checksum than when it was published')
}

/** Always one kind of array: loops that get arrays of three widths take three to five times as long. */
function codesOf(planes: Uint8Array, rows: number, width: number): Uint32Array<ArrayBuffer> {
  const codes = new Uint32Array(rows)
  for (let plane = 0; plane < width; plane++) {
    const at = plane * rows
    const shift = plane * 8
    for (let row = 0; row < rows; row++) codes[row]! |= planes[at + row]! << shift
  }
  return codes
}

function narrowed(codes: Uint32Array<ArrayBuffer>, width: number): Codes {
  if (width > 2) return codes
  return width === 1 ? new Uint8Array(codes) : new Uint16Array(codes)
}

/** The rows by their codes, by a counting sort. */
function postingLists(codes: Uint32Array, codeCount: number): Pick<ColumnParts, 'starts' | 'order'> {
  const order = new Uint32Array(codes.length)
  // At first, places[c + 2] counts the rows of code c, then places[c + 1] is where the next row of code c goes.
  const places = new Uint32Array(codeCount + 2)
  for (let row = 0; row < codes.length; row++) places[codes[row]! + 2]!++
  for (let i = 2; i < places.length; i++) places[i]! += places[i - 1]!
  for (let row = 0; row < codes.length; row++) order[places[codes[row]! + 1]!++] = row
  // Now places[c + 1] is where code c ends and the next one starts.
  return { starts: places.subarray(0, codeCount + 1), order }
}

function blockRanges(codes: Uint32Array, width: number): Pick<ColumnParts, 'blockMin' | 'blockMax'> {
  const blocks = Math.ceil(codes.length / BLOCK_ROWS)
  const [blockMin, blockMax] = [new Uint32Array(blocks), new Uint32Array(blocks)]
  for (let block = 0; block < blocks; block++) {
    const start = block << BLOCK_SHIFT
    const end = Math.min(codes.length, start + BLOCK_ROWS)
    let min = codes[start]!
    let max = min
    for (let row = start + 1; row < end; row++) {
      const code = codes[row]!
      if (code < min) min = code
      else if (code > max) max = code
    }
    blockMin[block] = min
    blockMax[block] = max
  }
  return { blockMin: narrowed(blockMin, width), blockMax: narrowed(blockMax, width) }
}
