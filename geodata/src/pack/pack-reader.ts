import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { doubled } from '../bytes/doubled.ts'
import { ExportError } from '../export-error.ts'
import { PACK_FILE } from './pack.ts'

const BLOCK = 1 << 20
const NEWLINE = 0x0a
const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const SMALL_P = 0x70
/** The length of `{"type":"Feature","id":`. */
const ID_AT = 23
/** The length of `,"geometry":`. */
const GEOMETRY_KEY = 12
/** The length of `,"properties":`. */
const PROPERTIES_KEY = 14
const PROPERTIES = Buffer.from('"properties":{')

/** A block of whole features of the pack: feature i lies in `bytes` from `starts[i]` to `ends[i]`. */
export interface PackBlock {
  bytes: Buffer
  count: number
  starts: Int32Array
  ends: Int32Array
}

/**
 * Reads a snapshot's features.pack from the start, one block of whole features at a time. A block is only
 * valid until the next one is requested. Newlines occur only between features, because JSON text escapes
 * them.
 */
export async function* readPack(
  folder: string,
  { rows }: { rows: number },
  signal?: AbortSignal,
): AsyncGenerator<PackBlock> {
  const file = await open(join(folder, PACK_FILE), 'r')
  let featureCount = 0
  let reading: Promise<{ bytesRead: number }> = Promise.resolve({ bytesRead: 0 })
  try {
    let [bytes, next] = [Buffer.allocUnsafeSlow(BLOCK), Buffer.allocUnsafeSlow(BLOCK)]
    let held = 0
    const block: PackBlock = { bytes, count: 0, starts: new Int32Array(4096), ends: new Int32Array(4096) }
    reading = file.read(bytes, 0, bytes.length)
    for (;;) {
      signal?.throwIfAborted()
      const { bytesRead } = await reading
      const last = bytesRead === 0
      held += bytesRead
      const rest = splitPack(bytes, held, last, block)
      featureCount += block.count
      if (!last) {
        // The next block is read while this one is processed.
        if ((held - rest) * 2 > next.length) next = Buffer.allocUnsafeSlow((held - rest) * 2)
        held = bytes.copy(next, 0, rest, held)
        reading = file.read(next, held, next.length - held)
        reading.catch(() => {})
      }
      if (block.count > 0) yield block
      if (last) break
      ;[bytes, next] = [next, bytes]
    }
    requireFeatures(featureCount, { rows })
  } finally {
    await Promise.allSettled([reading])
    await file.close()
  }
}

export function requireFeatures(featureCount: number, { rows }: { rows: number }): void {
  if (featureCount === rows) return
  const message = `features.pack has ${featureCount} features and manifest.json says ${rows}.`
  throw new ExportError('snapshot-damaged', message)
}

/** Fills `block` with the complete features in the first `held` bytes; returns the remainder's offset. */
export function splitPack(bytes: Buffer, held: number, last: boolean, block: PackBlock): number {
  block.bytes = bytes
  block.count = 0
  let start = 0
  while (start < held) {
    let end = bytes.indexOf(NEWLINE, start)
    if (end < 0 || end >= held) {
      if (!last) break
      end = held + 1
    }
    if (block.count === block.starts.length) {
      block.starts = doubled(block.starts)
      block.ends = doubled(block.ends)
    }
    block.starts[block.count] = start
    block.ends[block.count++] = end - 1
    start = end + 1
  }
  return start
}

/** The byte ranges of the members of one feature; `geometryStart` points to `{` or `null`. */
export class FeatureSlices {
  idStart = 0
  idEnd = 0
  geometryStart = 0
  geometryEnd = 0
  propertiesStart = 0
  propertiesEnd = 0

  /** The id, and where the geometry begins. */
  locateId(bytes: Buffer, start: number): void {
    this.idStart = start + ID_AT
    this.idEnd = skipScalar(bytes, this.idStart)
    this.geometryStart = this.idEnd + GEOMETRY_KEY
  }

  locate(bytes: Buffer, start: number, end: number): void {
    this.locateId(bytes, start)
    this.locateProperties(bytes, propertiesKey(bytes, this.geometryStart, end) - 1, end)
  }

  /** The properties of a feature whose geometry has been read up to its end. */
  locateProperties(bytes: Buffer, geometryEnd: number, end: number): void {
    if (bytes[geometryEnd + 1] !== QUOTE || bytes[geometryEnd + 2] !== SMALL_P)
      throw new ExportError('snapshot-damaged', 'features.pack holds a feature without properties.')
    this.geometryEnd = geometryEnd
    this.propertiesStart = this.geometryEnd + PROPERTIES_KEY
    this.propertiesEnd = end - 1
  }
}

function skipScalar(bytes: Buffer, start: number): number {
  let p = start
  if (bytes[p] === QUOTE) {
    p++
    for (let byte = bytes[p]; byte !== QUOTE && byte !== undefined; byte = bytes[p]) {
      p += byte === BACKSLASH ? 2 : 1
    }
    return p + 1
  }
  while (p < bytes.length && bytes[p] !== COMMA) p++
  return p
}

/** No key or type name inside a geometry begins with a p, so the first `"p` is the key `properties`. */
function propertiesKey(bytes: Buffer, start: number, end: number): number {
  const near = Math.min(end, start + 160)
  for (let p = start; p < near; p++) {
    if (bytes[p] === QUOTE && bytes[p + 1] === SMALL_P) return p
  }
  const keyStart = bytes.indexOf(PROPERTIES, near - PROPERTIES.length)
  return keyStart < end ? keyStart : -1
}
