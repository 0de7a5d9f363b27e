import { packBytes, splitIntoPlanes, unpackBytes } from './byte-planes.ts'
import { doublesOfKeys, integersOfKeys } from './column-keys.ts'

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
  const [highSteps, lowSteps] = [new Uint32Array(count), new Uint32Array(count)]
  stepsOfKeys(high, low, highSteps, lowSteps)
  const planes = Buffer.allocUnsafeSlow(count * KEY_BYTES)
  splitIntoPlanes(lowSteps, planes.subarray(0, count * 4))
  splitIntoPlanes(highSteps, planes.subarray(count * 4))
  return { packed: await packBytes(planes), size: planes.length }
}

function stepsOfKeys(
  high: Uint32Array,
  low: Uint32Array,
  highSteps: Uint32Array,
  lowSteps: Uint32Array,
): void {
  let lastHigh = 0
  let lastLow = 0
  for (let i = 0; i < high.length; i++) {
    const h = high[i]!
    const l = low[i]!
    lowSteps[i] = l - lastLow
    highSteps[i] = h - lastHigh - (l < lastLow ? 1 : 0)
    lastHigh = h
    lastLow = l
  }
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
  return isDouble ? doublesOfKeys(high, low) : integersOfKeys(high, low)
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
  const planes = Buffer.allocUnsafeSlow(codes.length * width)
  splitIntoPlanes(codes, planes)
  return { packed: await packBytes(planes), size: planes.length }
}
