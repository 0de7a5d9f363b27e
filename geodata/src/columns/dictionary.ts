import { packBytes, packPlanes, unpackBytes } from './byte-planes.ts'
import { doubleOfKey } from './rank-values.ts'

/**
 * The distinct values of a column, ascending. Integers, days and microseconds are doubles as long as all of
 * them are below 2^53, otherwise `bigint`.
 */
export type DictionaryValues = Float64Array | BigInt64Array | readonly string[]

const KEY_BYTES = 8

/** Packs keys as the differences of consecutive keys: sorted values are close to each other. */
export async function packKeys(
  high: Uint32Array,
  low: Uint32Array,
): Promise<{ packed: Buffer; size: number }> {
  const count = high.length
  const planes = Buffer.allocUnsafeSlow(count * KEY_BYTES)
  let lastHigh = 0
  let lastLow = 0
  for (let i = 0; i < count; i++) {
    const l = (low[i]! - lastLow) >>> 0
    const h = (high[i]! - lastHigh - (low[i]! < lastLow ? 1 : 0)) >>> 0
    lastHigh = high[i]!
    lastLow = low[i]!
    for (let plane = 0; plane < 4; plane++) {
      planes[plane * count + i] = l >>> (plane * 8)
      planes[(plane + 4) * count + i] = h >>> (plane * 8)
    }
  }
  return { packed: await packBytes(planes), size: planes.length }
}

/** `isDouble` tells doubles from integers. */
export async function unpackKeys(
  packed: Uint8Array,
  size: number,
  isDouble: boolean,
): Promise<DictionaryValues> {
  const planes = await unpackBytes(packed, size)
  const count = size / KEY_BYTES
  const high = new Uint32Array(count)
  const low = new Uint32Array(count)
  let lastHigh = 0
  let lastLow = 0
  for (let i = 0; i < count; i++) {
    let l = 0
    let h = 0
    for (let plane = 3; plane >= 0; plane--) {
      l = (l << 8) | planes[plane * count + i]!
      h = (h << 8) | planes[(plane + 4) * count + i]!
    }
    const sum = lastLow + (l >>> 0)
    lastHigh = (lastHigh + h + (sum > 0xffff_ffff ? 1 : 0)) >>> 0
    lastLow = sum >>> 0
    high[i] = lastHigh
    low[i] = lastLow
  }
  return valuesOfKeys(high, low, isDouble)
}

/** The values of keys. `isDouble` tells doubles from integers. */
export function valuesOfKeys(high: Uint32Array, low: Uint32Array, isDouble: boolean): DictionaryValues {
  const count = high.length
  const isSafe = count === 0 || (isSafeKey(high[0]!) && isSafeKey(high[count - 1]!))
  if (isDouble || isSafe) {
    const values = new Float64Array(count)
    for (let i = 0; i < count; i++) {
      values[i] = isDouble ? doubleOfKey(high[i]!, low[i]!) : signed(high[i]!) * 2 ** 32 + low[i]!
    }
    return values
  }
  const values = new BigInt64Array(count)
  for (let i = 0; i < count; i++) values[i] = (BigInt(signed(high[i]!)) << 32n) + BigInt(low[i]!)
  return values
}

function signed(word: number): number {
  return (word ^ 0x8000_0000) | 0
}

/** Whether every integer whose key begins with this word is below 2^53. */
function isSafeKey(word: number): boolean {
  const high = signed(word)
  return high >= -(2 ** 21) + 1 && high < 2 ** 21
}

const END = '\0'
const ESCAPE = '\x01'

/** A text may contain any character, so the separator is escaped inside it. */
export async function packTexts(texts: readonly string[]): Promise<{ packed: Buffer; size: number }> {
  const bytes = Buffer.from(texts.map((text) => escaped(text) + END).join(''), 'utf8')
  return { packed: await packBytes(bytes), size: bytes.length }
}

export async function unpackTexts(packed: Uint8Array, size: number): Promise<string[]> {
  const texts = (await unpackBytes(packed, size)).toString('utf8').split(END)
  texts.pop()
  return texts.map((text) => (text.includes(ESCAPE) ? unescaped(text) : text))
}

function escaped(text: string): string {
  return text.replaceAll(ESCAPE, `${ESCAPE}1`).replaceAll(END, `${ESCAPE}0`)
}

function unescaped(text: string): string {
  return text.replaceAll(`${ESCAPE}0`, END).replaceAll(`${ESCAPE}1`, ESCAPE)
}

/** Codes as byte planes. */
export async function packCodes(
  codes: Uint32Array,
  width: number,
): Promise<{ packed: Buffer; size: number }> {
  return { packed: await packPlanes(codes, width), size: codes.length * width }
}
