import { open } from 'node:fs/promises'
import { readFully } from '../../bytes/read-fully.ts'

/** Members after the features are few and short; GeoServer writes counts, a timestamp and the CRS there. */
const TAIL_BYTES = 1 << 16

/**
 * The members of a collection that follow its features, as far as they are at the end of the file. A file is
 * read sequentially and its CRS must be known before the first feature, so the end is read first.
 */
export async function readTailMembers(path: string): Promise<{ [name: string]: unknown }> {
  const handle = await open(path)
  try {
    const { size } = await handle.stat()
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES))
    await readFully(handle, bytes, size - bytes.length)
    return tailMembers(bytes.toString('utf8'))
  } finally {
    await handle.close()
  }
}

/**
 * Parses what follows the closing bracket of `features`. After a bracket inside a feature, the rest closes
 * more objects than it opens and is not valid JSON, so the first bracket with a valid rest is the one that
 * closes the features.
 */
function tailMembers(tail: string): { [name: string]: unknown } {
  if (!tail.includes('"crs"')) return {}
  for (let at = tail.indexOf(']'); at >= 0; at = tail.indexOf(']', at + 1)) {
    // A quick check: most other brackets are followed by a closing character and not by a member.
    if (!/^\]\s*,\s*"/.test(tail.slice(at, at + 100))) continue
    try {
      return JSON.parse(`{"features":[${tail.slice(at)}`)
    } catch {
      // This bracket is inside a feature.
    }
  }
  return {}
}
