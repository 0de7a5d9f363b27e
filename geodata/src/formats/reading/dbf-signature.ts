const FIELD_TYPES = new Set('CNFLDIBM@+OTYGPQVW0'.split('').map((letter) => letter.charCodeAt(0)))
const VERSIONS = new Set([0x02, 0x03, 0x04, 0x05, 0x30, 0x31, 0x32, 0x43, 0x63, 0x83, 0x8b, 0x8c, 0xcb, 0xf5])

/** Whether the head of a file is that of a dBase table. It has no magic number, so its header is checked. */
export function looksLikeDbf(head: Buffer): boolean {
  if (head.length < 65 || !VERSIONS.has(head[0]!)) return false
  const [month, day] = [head[2]!, head[3]!]
  const headerLength = head.readUInt16LE(8)
  const recordLength = head.readUInt16LE(10)
  if (month > 12 || day > 31 || headerLength < 65 || recordLength < 2) return false
  // Each field has 32 bytes with its type in the twelfth, and one byte follows the last of them.
  for (let at = 32; at + 32 <= Math.min(head.length, headerLength) && head[at] !== 0x0d; at += 32)
    if (!FIELD_TYPES.has(head[at + 11]!)) return false
  return FIELD_TYPES.has(head[32 + 11]!)
}
