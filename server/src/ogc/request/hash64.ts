/** A fast non-cryptographic hash: two multiplicative chains, mixed at the end. */
export function hash64(text: string, seed = 0, second = 0): [high: number, low: number] {
  let a = 0xdeadbeef ^ seed
  let b = 0x41c6ce57 ^ second
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    a = Math.imul(a ^ code, 0x9e3779b1)
    b = Math.imul(b ^ code, 0x5f356495)
  }
  a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35)
  b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35)
  return [a >>> 0, b >>> 0]
}
