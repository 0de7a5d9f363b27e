import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type SipKey, sipHash } from './sip-hash.ts'

/**
 * The signatures of the messages 00 01 02 … of these lengths with the key 00 01 … 0f: the vectors of the authors'
 * reference implementation, which `openssl mac -macopt size:8 SIPHASH` prints too.
 */
const VECTORS: [length: number, signature: string][] = [
  [0, '310e0edd47db6f72'],
  [1, 'fd67dc93c539f874'],
  [3, '2d7efbd796666785'],
  [4, 'b7877127e09427cf'],
  [5, '8da699cd64557618'],
  [7, '37d1018bf50002ab'],
  [8, '6224939a79f5f593'],
  [12, 'fbe50e86bc8f1e75'],
  [15, 'e545be4961ca29a1'],
  [16, 'db9bc2577fcc2a3f'],
  [63, '724506eb4c328a95'],
]

test('messages of all lengths modulo eight have the signatures of the reference implementation', () => {
  const key: SipKey = [0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c]
  for (const [length, signature] of VECTORS) {
    // What follows the message in the memory has no influence.
    const bytes = new Uint8Array(80).fill(0xee)
    for (let i = 0; i < length; i++) bytes[i] = i
    const result = Buffer.alloc(8)
    const [low, high] = sipHash(key, new Uint32Array(bytes.buffer), length)
    result.writeUInt32LE(low, 0)
    result.writeUInt32LE(high, 4)
    assert.equal(result.toString('hex'), signature, `${length} bytes`)
  }
})
