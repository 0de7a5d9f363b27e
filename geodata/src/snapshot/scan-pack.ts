import { createHash } from 'node:crypto'
import { open, stat, truncate } from 'node:fs/promises'
import { hashId } from './id-table.ts'
import { FEATURE_HEAD, idEnd, PACK_SEPARATOR } from './pack.ts'

export interface PackScan {
  /** The hash of each feature's id. */
  idHashes: Uint32Array
  sha256: string
}

const BLOCK_BYTES = 1 << 22
const NEWLINE = 10

/** Takes the comma and the newline off the pack's end; answers how many bytes are left. */
export async function trimPack(path: string): Promise<number> {
  const bytes = Math.max(0, (await stat(path)).size - PACK_SEPARATOR.length)
  await truncate(path, bytes)
  return bytes
}

/**
 * Finds each feature's offset (and, as the last one, where a next feature would stand), the hash of its id and
 * the file's checksum in one pass. A feature has no newline inside: JSON escapes them.
 */
export async function scanPack(path: string, offsets: Uint32Array | Float64Array): Promise<PackScan> {
  const handle = await open(path)
  const rows = offsets.length - 1
  try {
    const { size } = await handle.stat()
    const idHashes = new Uint32Array(rows)
    const hash = createHash('sha256')
    let block: Buffer = Buffer.allocUnsafeSlow(BLOCK_BYTES)
    let row = 0
    // What of a line did not end in the last block is kept at the front of the next.
    let kept = 0
    for (let at = 0; at < size; ) {
      if (block.length - kept < BLOCK_BYTES / 2) block = Buffer.concat([block], block.length * 2)
      const { bytesRead } = await handle.read(block, kept, Math.min(size - at, block.length - kept), at)
      if (bytesRead === 0) throw new Error('the pack shrank while it was read')
      hash.update(block.subarray(kept, kept + bytesRead))
      const start = at - kept
      const end = kept + bytesRead
      at += bytesRead
      let line = 0
      for (;;) {
        let next = block.indexOf(NEWLINE, line)
        if (next === -1 || next >= end) {
          if (at < size) break
          next = end
        }
        if (next > line) {
          offsets[row] = start + line
          idHashes[row++] = hashId(
            block,
            line + FEATURE_HEAD.length,
            idEnd(block, line + FEATURE_HEAD.length),
          )
        }
        line = next + 1
        if (next === end) break
      }
      kept = Math.max(0, end - line)
      if (kept > 0) block.copyWithin(0, line, end)
    }
    if (row !== rows) throw new Error(`the pack has ${row} features instead of ${rows}`)
    offsets[rows] = size + PACK_SEPARATOR.length
    return { idHashes, sha256: hash.digest('hex') }
  } finally {
    await handle.close()
  }
}
