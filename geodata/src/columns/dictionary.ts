import { type PlaneMemory, packBytes, splitIntoPlanes, unpackBytes } from './byte-planes.ts'
import { doublesOfKeys, integersOfKeys } from './column-keys.ts'

/**
 * The distinct values of a column, ascending. Integers, days and microseconds are doubles as long as all of
 * them are below 2^53, otherwise `bigint`.
 */
export type DictionaryValues = Float64Array | BigInt64Array | readonly string[]

const KEY_BYTES = 8
/** Keys are packed in blocks that stay in the cache of a processor. */
const BLOCK = 4096
const HIGH_STEPS = new Uint32Array(BLOCK)
const LOW_STEPS = new Uint32Array(BLOCK)

/** Compressed bytes, and their size before. */
export interface Packed {
  packed: Buffer
  size: number
}

/** Packs keys as the differences of consecutive keys: sorted values are close to each other. */
export function packKeys(high: Uint32Array, low: Uint32Array, memory: PlaneMemory): Promise<Packed> {
  const count = high.length
  return memory.pack(count * KEY_BYTES, (planes) => {
    const highPlanes = planes.subarray(count * 4)
    for (let from = 0; from < count; from += BLOCK) {
      const length = Math.min(BLOCK, count - from)
      const [highSteps, lowSteps] = [HIGH_STEPS.subarray(0, length), LOW_STEPS.subarray(0, length)]
      stepsOfKeys(high, low, from, highSteps, lowSteps)
      splitIntoPlanes(lowSteps, planes, 4, count, from)
      splitIntoPlanes(highSteps, highPlanes, 4, count, from)
    }
  })
}

/** The differences of the keys from `from` on, each from the one before it. */
function stepsOfKeys(
  high: Uint32Array,
  low: Uint32Array,
  from: number,
  highSteps: Uint32Array,
  lowSteps: Uint32Array,
): void {
  let lastHigh = from === 0 ? 0 : high[from - 1]!
  let lastLow = from === 0 ? 0 : low[from - 1]!
  for (let i = 0; i < highSteps.length; i++) {
    const h = high[from + i]!
    const l = low[from + i]!
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
export async function packTexts(texts: readonly string[]): Promise<Packed> {
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

/** The codes of each segment as byte planes. `codes` is no longer needed when this function returns. */
export function packCodes(
  codes: Uint32Array,
  width: number,
  segmentRows: number,
  memory: PlaneMemory,
): Promise<Packed[]> {
  const sizes: number[] = []
  // A column without rows has a segment too.
  for (let from = 0; from === 0 || from < codes.length; from += segmentRows)
    sizes.push(Math.min(segmentRows, codes.length - from) * width)
  return memory.packParts(sizes, (planes) => {
    for (let from = 0; from < codes.length; from += segmentRows) {
      const segment = codes.subarray(from, from + segmentRows)
      splitSegment(segment, planes.subarray(from * width, (from + segment.length) * width), width)
    }
  })
}

function splitSegment(codes: Uint32Array, planes: Uint8Array, width: number): void {
  const count = codes.length
  for (let from = 0; from < count; from += BLOCK)
    splitIntoPlanes(codes.subarray(from, from + BLOCK), planes, width, count, from)
}
