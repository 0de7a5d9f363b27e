/*
 * A WebAssembly program that compares 16 codes at a time, because JavaScript has no vectors: a loop over codes takes 1 to
 * 3 ns for each, this one 0.1 to 0.3. It is put together here from its instructions, so that nothing has to be built. For
 * each width of codes it has a function, in WebAssembly's text form:
 *
 *     (func (param $at i32) (param $end i32) (param $low i32) (param $span i32) (param $bits i32)
 *       (local $lows v128) (local $spans v128)
 *       (local.set $lows (i8x16.splat (local.get $low)))
 *       (local.set $spans (i8x16.splat (local.get $span)))
 *       (loop $next
 *         (i32.store16 (local.get $bits) (i8x16.bitmask
 *           (i8x16.le_u (i8x16.sub (v128.load (local.get $at)) (local.get $lows)) (local.get $spans))))
 *         (local.set $bits (i32.add (local.get $bits) (i32.const 2)))
 *         (local.set $at (i32.add (local.get $at) (i32.const 16)))
 *         (br_if $next (i32.lt_u (local.get $at) (local.get $end)))))
 *
 * 16 wider codes are two or four vectors, whose results are narrowed to bytes before `bitmask`.
 */

/**
 * Sets a bit for each code in memory from `at` to `end` that is at least `low` and at most `low + span`, and clears it for
 * the others. `bits` is where the bits are put. There is at least one code; the last ones are completed to 16.
 */
type CompareCodes = (at: number, end: number, low: number, span: number, bits: number) => void

interface VectorProgram {
  memory: WebAssembly.Memory
  compare8: CompareCodes
  compare16: CompareCodes
  compare32: CompareCodes
}

const PAGES = 1

/** Null if the processor has no vectors, as some virtual ones. */
export function loadVectorProgram(): VectorProgram | null {
  const bytes = Uint8Array.from(programBytes())
  if (!WebAssembly.validate(bytes)) return null
  return new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports as unknown as VectorProgram
}

const I32 = 0x7f
const V128 = 0x7b
/** The numbers of the parameters and locals. */
const [AT, END, LOW, SPAN, BITS, LOWS, SPANS] = [0, 1, 2, 3, 4, 5, 6]
const get = (local: number) => [0x20, local]
const set = (local: number) => [0x21, local]
const tee = (local: number) => [0x22, local]
const constant = (value: number) => [0x41, ...signed(value)]
const ADD = 0x6a
const LESS = 0x49
const LOOP = [0x03, 0x40]
const REPEAT_IF = [0x0d, 0x00]
const STORE_16 = [0x3b, 0x01, 0x00]
const LOOP_END = 0x0b
const vector = (instruction: number) => [0xfd, ...unsigned(instruction)]
const load = (offset: number) => [...vector(0x00), 0x00, ...unsigned(offset)]
const BITMASK = vector(0x64)
const NARROW_TO_BYTES = vector(0x65)
const NARROW_TO_16_BITS = vector(0x85)

interface Lanes {
  splat: number
  sub: number
  atMost: number
}

const LANES_8: Lanes = { splat: 0x0f, sub: 0x71, atMost: 0x2a }
const LANES_16: Lanes = { splat: 0x10, sub: 0x91, atMost: 0x34 }
const LANES_32: Lanes = { splat: 0x11, sub: 0xb1, atMost: 0x3e }

function programBytes(): number[] {
  const compare = (lanes: Lanes, offset: number) => [
    ...get(AT),
    ...load(offset),
    ...get(LOWS),
    ...vector(lanes.sub),
    ...get(SPANS),
    ...vector(lanes.atMost),
  ]
  const pair = (at: number) => [...compare(LANES_32, at), ...compare(LANES_32, at + 16), ...NARROW_TO_16_BITS]
  const functions = [
    loopBody(LANES_8, 16, compare(LANES_8, 0)),
    loopBody(LANES_16, 32, [...compare(LANES_16, 0), ...compare(LANES_16, 16), ...NARROW_TO_BYTES]),
    loopBody(LANES_32, 64, [...pair(0), ...pair(32), ...NARROW_TO_BYTES]),
  ]
  const names = ['compare8', 'compare16', 'compare32']
  return [
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, [[0x60, 5, I32, I32, I32, I32, I32, 0]]),
    ...section(3, [[0], [0], [0]]),
    ...section(5, [[0x00, PAGES]]),
    ...section(7, [[...text('memory'), 0x02, 0], ...names.map((name, i) => [...text(name), 0x00, i])]),
    ...section(10, functions),
  ]
}

/** A function. `compared` leaves a vector of 16 bytes, each of which is 0 or 255. */
function loopBody(lanes: Lanes, step: number, compared: number[]): number[] {
  const body = [
    ...[1, 2, V128],
    ...[...get(LOW), ...vector(lanes.splat), ...set(LOWS)],
    ...[...get(SPAN), ...vector(lanes.splat), ...set(SPANS)],
    ...LOOP,
    ...[...get(BITS), ...compared, ...BITMASK, ...STORE_16],
    ...[...get(BITS), ...constant(2), ADD, ...set(BITS)],
    ...[...get(AT), ...constant(step), ADD, ...tee(AT)],
    ...[...get(END), LESS, ...REPEAT_IF, LOOP_END],
    0x0b,
  ]
  return [...unsigned(body.length), ...body]
}

function section(id: number, items: number[][]): number[] {
  const content = [items.length, ...items.flat()]
  return [id, ...unsigned(content.length), ...content]
}

function text(value: string): number[] {
  return [value.length, ...Buffer.from(value)]
}

/** A number in as many bytes of seven bits as it needs. */
function unsigned(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)]
}

/** The same with a sign bit, of a number that is not negative. */
function signed(value: number): number[] {
  return value < 64 ? [value] : [(value & 127) | 128, ...signed(value >>> 7)]
}
