/**
 * SQLite's variable-length integers: seven bits a byte, the most significant first. A ninth byte has eight bits,
 * so that negative numbers, in two's complement, need nine bytes.
 */
export function putVarint(bytes: Uint8Array, at: number, value: number): number {
  if (value >= 0 && value < 0x80) {
    bytes[at] = value
    return at + 1
  }
  if (value < 0) return putNegative(bytes, at, value)
  const end = at + varintBytes(value)
  let rest = value
  let p = end - 1
  bytes[p--] = rest & 0x7f
  for (; rest > 0x7fff_ffff; p--) {
    rest = Math.floor(rest / 128)
    bytes[p] = (rest & 0x7f) | 0x80
  }
  for (rest >>>= 7; p >= at; p--, rest >>>= 7) bytes[p] = (rest & 0x7f) | 0x80
  return end
}

/** The number of bytes of an integer that is exact in a double. */
export function varintBytes(value: number): number {
  if (value < 0) return 9
  if (value < 0x80) return 1
  if (value < 0x4000) return 2
  if (value < 0x20_0000) return 3
  if (value < 0x1000_0000) return 4
  let bytes = 5
  for (let rest = value / 2 ** 35; rest >= 1; rest /= 128) bytes++
  return bytes
}

function putNegative(bytes: Uint8Array, at: number, value: number): number {
  const bits = BigInt.asUintN(64, BigInt(value))
  bytes[at + 8] = Number(bits & 0xffn)
  for (let i = 7; i >= 0; i--) bytes[at + i] = Number((bits >> BigInt(8 + (7 - i) * 7)) & 0x7fn) | 0x80
  return at + 9
}
