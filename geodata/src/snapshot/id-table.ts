/**
 * Maps a feature's id to its position: a hash table that stores positions only (about 6 bytes per feature).
 * The ids are not repeated here; a lookup compares the candidates with the pack, where the id has a known
 * offset.
 */

/** The number of buckets: a power of two, between half as many as features and as many. */
export function idBuckets(rows: number): number {
  return 2 ** Math.max(0, Math.ceil(Math.log2(Math.max(1, rows / 2))))
}

/** FNV-1a over the id's JSON text as UTF-8, with a final mix so that the low bits depend on all bits. */
export function hashId(bytes: Uint8Array, from: number, to: number): number {
  let hash = 0x811c9dc5
  for (let i = from; i < to; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return (hash ^ (hash >>> 13)) >>> 0
}

/** Fills `starts` (buckets + 1 entries, all 0) and `positions` from the hash of each position's id. */
export function buildIdTable(hashes: Uint32Array, starts: Uint32Array, positions: Uint32Array): void {
  const mask = starts.length - 2
  for (let i = 0; i < hashes.length; i++) starts[hashes[i]! & mask]!++
  // First the ends of the buckets: filling a bucket from its end leaves its start.
  for (let bucket = 1; bucket < starts.length; bucket++) starts[bucket]! += starts[bucket - 1]!
  for (let i = hashes.length - 1; i >= 0; i--) positions[--starts[hashes[i]! & mask]!] = i
}

/** The positions of features whose id may hash to `hash`. */
export function idCandidates(hash: number, starts: Uint32Array, positions: Uint32Array): Uint32Array {
  const bucket = hash & (starts.length - 2)
  return positions.subarray(starts[bucket]!, starts[bucket + 1]!)
}
