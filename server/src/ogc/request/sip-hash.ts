/** A key of 128 bits, as four words. */
export type SipKey = readonly [number, number, number, number]

/**
 * SipHash-2-4 (Aumasson and Bernstein, 2012), a keyed hash made for signing short messages, as its two halves. The
 * message is the first `length` bytes of `words`, in the byte order of the machine, which is little-endian on all
 * platforms that Node supports. `words` needs room for another block of eight bytes after the message.
 *
 * Each 64-bit word of the algorithm is two 32-bit numbers here, because a BigInt would be allocated at each step.
 */
export function sipHash(key: SipKey, words: Uint32Array, length: number): [low: number, high: number] {
  const [k0, k1, k2, k3] = key
  let aLow = k0 ^ 0x70736575
  let aHigh = k1 ^ 0x736f6d65
  let bLow = k2 ^ 0x6e646f6d
  let bHigh = k3 ^ 0x646f7261
  let cLow = k0 ^ 0x6e657261
  let cHigh = k1 ^ 0x6c796765
  let dLow = k2 ^ 0x79746573
  let dHigh = k3 ^ 0x74656462
  const count = padded(words, length)
  for (let at = 0; at <= count; at += 2) {
    // After the message the state is mixed once more.
    const isEnd = at === count
    const low = isEnd ? 0 : words[at]!
    const high = isEnd ? 0 : words[at + 1]!
    if (isEnd) cLow ^= 0xff
    dLow ^= low
    dHigh ^= high
    for (let round = isEnd ? 4 : 2; round > 0; round--) {
      let sum = (aLow >>> 0) + (bLow >>> 0)
      aLow = sum | 0
      aHigh = (aHigh + bHigh + (sum > MAX ? 1 : 0)) | 0
      let turned = (bLow << 13) | (bHigh >>> 19)
      bHigh = ((bHigh << 13) | (bLow >>> 19)) ^ aHigh
      bLow = turned ^ aLow
      turned = aLow
      aLow = aHigh
      aHigh = turned

      sum = (cLow >>> 0) + (dLow >>> 0)
      cLow = sum | 0
      cHigh = (cHigh + dHigh + (sum > MAX ? 1 : 0)) | 0
      turned = (dLow << 16) | (dHigh >>> 16)
      dHigh = ((dHigh << 16) | (dLow >>> 16)) ^ cHigh
      dLow = turned ^ cLow

      sum = (aLow >>> 0) + (dLow >>> 0)
      aLow = sum | 0
      aHigh = (aHigh + dHigh + (sum > MAX ? 1 : 0)) | 0
      turned = (dLow << 21) | (dHigh >>> 11)
      dHigh = ((dHigh << 21) | (dLow >>> 11)) ^ aHigh
      dLow = turned ^ aLow

      sum = (cLow >>> 0) + (bLow >>> 0)
      cLow = sum | 0
      cHigh = (cHigh + bHigh + (sum > MAX ? 1 : 0)) | 0
      turned = (bLow << 17) | (bHigh >>> 15)
      bHigh = ((bHigh << 17) | (bLow >>> 15)) ^ cHigh
      bLow = turned ^ cLow
      turned = cLow
      cLow = cHigh
      cHigh = turned
    }
    aLow ^= low
    aHigh ^= high
  }
  return [(aLow ^ bLow ^ cLow ^ dLow) >>> 0, (aHigh ^ bHigh ^ cHigh ^ dHigh) >>> 0]
}

const MAX = 0xffff_ffff

/** Fills the last block up with zeros, and its last byte with the length. Returns the number of words. */
function padded(words: Uint32Array, length: number): number {
  const last = (length >>> 3) << 1
  const rest = length & 7
  if (rest < 4) {
    words[last] = rest === 0 ? 0 : words[last]! & ((1 << (rest * 8)) - 1)
    words[last + 1] = (length & 0xff) << 24
  } else {
    const above = rest - 4
    words[last + 1] =
      (above === 0 ? 0 : words[last + 1]! & ((1 << (above * 8)) - 1)) | ((length & 0xff) << 24)
  }
  return last + 2
}
