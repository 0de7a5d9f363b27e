import { open } from 'node:fs/promises'

/** Members after the features are few and short; GeoServer writes counts, a time stamp and the CRS there. */
const TAIL_BYTES = 1 << 16

/**
 * The members of a collection that stand after its features, as far as the end of the file shows them. A file is
 * read from front to back, and its CRS must be known before the first feature is, so the end is looked at first.
 */
export async function readTailMembers(path: string): Promise<{ [name: string]: unknown }> {
  const handle = await open(path)
  try {
    const { size } = await handle.stat()
    const length = Math.min(size, TAIL_BYTES)
    const { buffer } = await handle.read(Buffer.alloc(length), 0, length, size - length)
    return tailMembers(buffer.toString('utf8'))
  } finally {
    await handle.close()
  }
}

/**
 * What follows the closing bracket of `features`. From a bracket inside a feature, the rest closes more objects
 * than it opens and is no JSON; so the first bracket whose rest is valid is the one that closes the features.
 */
function tailMembers(tail: string): { [name: string]: unknown } {
  if (!tail.includes('"crs"')) return {}
  for (let at = tail.indexOf(']'); at >= 0; at = tail.indexOf(']', at + 1)) {
    // All but the right bracket are followed by more closing than opening, mostly at once.
    if (!/^\]\s*,\s*"/.test(tail.slice(at, at + 100))) continue
    try {
      return JSON.parse(`{"features":[${tail.slice(at)}`)
    } catch {
      // A bracket inside a feature.
    }
  }
  return {}
}
