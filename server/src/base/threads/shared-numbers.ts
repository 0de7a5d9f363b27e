import { randomFillSync } from 'node:crypto'

/** A name is looked for in one group only, so that a look-up takes a bounded time. */
const GROUP_SLOTS = 32
const SEED_WORDS = 2
const FREE = 0
const HELD = 1
/** Held, and other threads wait for it. */
const AWAITED = 2
/** A lock is held for about a microsecond. A thread that was terminated meanwhile never releases it. */
const TAKE_OVER_MS = 1000
const WAIT_MS = 10

/** The bytes of a table with so many groups. Pages of it that are never used take no memory. */
function bytesOf(groups: number): number {
  const slots = groups * GROUP_SLOTS
  // Expiries and values, then the hashes, the locks and the seed.
  return slots * 16 + (slots * 2 + groups + SEED_WORDS) * 4
}

/** Creates the memory of a table, empty. `slots` is rounded up. */
export function createNumbers(slots: number): SharedArrayBuffer {
  const groups = Math.ceil(slots / GROUP_SLOTS)
  const memory = new SharedArrayBuffer(bytesOf(groups))
  randomFillSync(new Uint8Array(memory, memory.byteLength - SEED_WORDS * 4))
  return memory
}

/**
 * Numbers by name, in memory that all serving threads share. A name is stored as a hash of 64 bits, seeded with a
 * random number. A number that has expired counts as 0, and its slot is used again; if a group is full, the number
 * that expires first is discarded.
 *
 * Between `hold` and `release` no other thread reads or changes the held names, so that a step which reads and writes
 * is exact. Only held names may be read or set.
 *
 * See docs/decisions/serving-threads.md.
 */
export class SharedNumbers {
  readonly #expiries: Float64Array
  readonly #values: Float64Array
  readonly #hashes: Int32Array
  readonly #locks: Int32Array
  readonly #seed: Int32Array
  readonly #groups: number
  /** What is held: one name, or two in any order. */
  readonly #first: HeldName = { name: '', high: 0, low: 0, group: -1 }
  readonly #second: HeldName = { name: '', high: 0, low: 0, group: -1 }

  constructor(memory: SharedArrayBuffer) {
    const groups = Math.floor((memory.byteLength - SEED_WORDS * 4) / (GROUP_SLOTS * 24 + 4))
    const slots = groups * GROUP_SLOTS
    this.#groups = groups
    this.#expiries = new Float64Array(memory, 0, slots)
    this.#values = new Float64Array(memory, slots * 8, slots)
    this.#hashes = new Int32Array(memory, slots * 16, slots * 2)
    this.#locks = new Int32Array(memory, slots * 24, groups)
    this.#seed = new Int32Array(memory, slots * 24 + groups * 4, SEED_WORDS)
  }

  hold(name: string, other: string | null = null): void {
    this.#hash(name, this.#first)
    const { group } = this.#first
    if (other === null) {
      this.#second.group = -1
      this.#lock(group)
      return
    }
    this.#hash(other, this.#second)
    const otherGroup = this.#second.group
    // In one order in all threads, so that two of them never wait for each other.
    this.#lock(Math.min(group, otherGroup))
    if (group !== otherGroup) this.#lock(Math.max(group, otherGroup))
  }

  release(): void {
    const { group } = this.#first
    const otherGroup = this.#second.group
    this.#unlock(group)
    if (otherGroup !== -1 && otherGroup !== group) this.#unlock(otherGroup)
  }

  /** The number of a held name; 0 if it has none or expired before `now`. */
  get(name: string, now: number): number {
    const slot = this.#find(this.#held(name))
    return slot === -1 || this.#expiries[slot]! <= now ? 0 : this.#values[slot]!
  }

  set(name: string, value: number, expiresAt: number, now: number): void {
    const held = this.#held(name)
    let slot = this.#find(held)
    if (slot === -1) {
      slot = this.#room(held.group, now)
      this.#hashes[slot * 2] = held.high
      this.#hashes[slot * 2 + 1] = held.low
    }
    this.#values[slot] = value
    this.#expiries[slot] = expiresAt
  }

  #held(name: string): HeldName {
    return name === this.#first.name ? this.#first : this.#second
  }

  /** The slot of a name, or -1. Slots of a group are filled in order and never become empty again. */
  #find({ high, low, group }: HeldName): number {
    const end = (group + 1) * GROUP_SLOTS
    for (let slot = group * GROUP_SLOTS; slot < end; slot++) {
      const slotHigh = this.#hashes[slot * 2]!
      if (slotHigh === high && this.#hashes[slot * 2 + 1] === low) return slot
      if (slotHigh === 0) return -1
    }
    return -1
  }

  /** A slot for a new name: one that expired or is empty, otherwise the one that expires first. */
  #room(group: number, now: number): number {
    const start = group * GROUP_SLOTS
    let best = start
    for (let slot = start; slot < start + GROUP_SLOTS; slot++) {
      if (this.#expiries[slot]! <= now) return slot
      if (this.#expiries[slot]! < this.#expiries[best]!) best = slot
    }
    return best
  }

  #hash(name: string, held: HeldName): void {
    if (name !== held.name) {
      let high = this.#seed[0]!
      let low = this.#seed[1]!
      for (let i = 0; i < name.length; i++) {
        const code = name.charCodeAt(i)
        high = Math.imul(high ^ code, 0x01000193)
        low = Math.imul(low ^ (code + (high >>> 15)), 0x5bd1e995)
      }
      held.name = name
      // 0 marks an empty slot.
      held.high = mixed(high) || 1
      held.low = mixed(low)
    }
    held.group = (held.low >>> 0) % this.#groups
  }

  #lock(group: number): void {
    const locks = this.#locks
    if (Atomics.compareExchange(locks, group, FREE, HELD) === FREE) return
    const deadline = performance.now() + TAKE_OVER_MS
    while (Atomics.exchange(locks, group, AWAITED) !== FREE) {
      Atomics.wait(locks, group, AWAITED, WAIT_MS)
      if (performance.now() > deadline) return
    }
  }

  #unlock(group: number): void {
    if (Atomics.exchange(this.#locks, group, FREE) === AWAITED) Atomics.notify(this.#locks, group, 1)
  }
}

interface HeldName {
  name: string
  high: number
  low: number
  /** -1 if nothing is held. */
  group: number
}

/** The final step of MurmurHash3: every bit of the hash depends on every bit before. */
function mixed(hash: number): number {
  let h = hash ^ (hash >>> 16)
  h = Math.imul(h, 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}
