const float = new Float64Array(1)
const words = new Uint32Array(float.buffer)
const HIGH = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 1 : 0

/** The number of binary places after the point that a finite double needs; 0 for an integer. */
export function fractionBits(value: number): number {
  if (Number.isInteger(value)) return 0
  float[0] = value
  const high = words[HIGH]!
  const low = words[1 - HIGH]!
  const exponent = (high >>> 20) & 0x7ff
  const trailing = low === 0 ? 32 + trailingZeros(high | 0x100000) : trailingZeros(low)
  return Math.max(0, 1075 - Math.max(exponent, 1) - trailing)
}

/** value × 2^bits, for `bits` of at least `fractionBits(value)`. */
export function exactInteger(value: number, bits: number): bigint {
  if (bits === 0) return BigInt(value)
  float[0] = value
  const high = words[HIGH]!
  const low = words[1 - HIGH]!
  const exponent = (high >>> 20) & 0x7ff
  const leading = (high & 0xfffff) + (exponent === 0 ? 0 : 0x100000)
  const mantissa = BigInt(leading * 4294967296 + low)
  const shift = BigInt(Math.max(exponent, 1) - 1075 + bits)
  const size = shift >= 0n ? mantissa << shift : mantissa >> -shift
  return high >>> 31 === 1 ? -size : size
}

function trailingZeros(word: number): number {
  return 31 - Math.clz32(word & -word)
}
