import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { hashId } from './id-table.ts'
import { FEATURE_HEAD, idEnd } from './pack.ts'

export interface PackScan {
  /** Where each feature starts, then where a next one would. */
  offsets: Float64Array
  idHashes: Uint32Array
  bytes: number
  sha256: string
}

const BLOCK_BYTES = 1 << 22
const NEWLINE = 10

/**
 * Takes the comma and newline off the pack's end, then finds each feature's offset and the hash of its id,
 * and the file's checksum, in one pass. A feature has no newline inside: JSON escapes them.
 */
export async function scanPack(path: string, rows: number): Promise<PackScan> {
  const handle = await open(path, 'r+')
  try {
    const size = Math.max(0, (await handle.stat()).size - 2)
    await handle.truncate(size)
    const scan = {
      offsets: new Float64Array(rows + 1),
      idHashes: new Uint32Array(rows),
      bytes: size,
      sha256: '',
    }
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
          scan.offsets[row] = start + line
          scan.idHashes[row++] = hashId(
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
    scan.offsets[rows] = size + 2
    scan.sha256 = hash.digest('hex')
    return scan
  } finally {
    await handle.close()
  }
}
