import { randomUUID } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { machineMemory } from '@wayleave/geodata/base'
import type { Config } from '../settings/config.ts'
import { createNumbers } from './shared-numbers.ts'

/** Buckets of rate limits; beyond this, those that are full again first are discarded. */
const MAX_BUCKETS = 500_000
/** Owners whose features are counted on a day. */
const MAX_OWNERS = 100_000
/** Network addresses that have connections, counted for each thread. */
const MAX_ADDRESSES = 65_536

/** What all serving threads of a process read and write. */
interface ThreadMemory {
  buckets: SharedArrayBuffer
  features: SharedArrayBuffer
  addresses: SharedArrayBuffer
  /** For each thread its generation and its open connections, as Int32. */
  connections: SharedArrayBuffer
}

/** One of several threads that serve the same port. */
export interface ThreadPlace {
  /** From 1. The first is the main thread, which also does what a process does once, such as running jobs. */
  number: number
  count: number
  memory: ThreadMemory
  /** The name of the channel by which the threads of this server send messages to each other. */
  channel: string
}

/** The place of the main thread; undefined if it serves alone, and then nothing is shared. */
export function firstThread(count: number): ThreadPlace | undefined {
  if (count === 1) return undefined
  return { number: 1, count, memory: createMemory(count), channel: `wayleave ${randomUUID()}` }
}

function createMemory(count: number): ThreadMemory {
  return {
    buckets: createNumbers(MAX_BUCKETS),
    features: createNumbers(MAX_OWNERS),
    addresses: createNumbers(MAX_ADDRESSES),
    connections: new SharedArrayBuffer(count * 8),
  }
}

/** Whether this thread does what a process does once. */
export function isFirst(thread: ThreadPlace | undefined): boolean {
  return thread === undefined || thread.number === 1
}

/** A monotonic time that is the same in all threads; that of `performance.now()` begins with each thread. */
export function processMilliseconds(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1000 + nanoseconds / 1e6
}

/** What a thread may take by default: 90 to 130 MB, and its share of what requests need. */
const THREAD_BYTES = 256 * 1024 ** 2

/**
 * How many threads serve. By default as many as the machine or its container has cores, less one for jobs if this
 * process runs them, and not more than there is memory for: containers often have the cores of a large machine and
 * little memory. A worker serves no requests. Only Linux spreads connections over the sockets of one port.
 */
export function servingThreads(
  { threads, role }: Pick<Config, 'threads' | 'role'>,
  cores = availableParallelism(),
  platform: NodeJS.Platform = process.platform,
  memory = machineMemory(),
): number {
  if (role === 'worker' || platform !== 'linux') return 1
  const ofCores = role === 'api' ? cores : cores - 1
  return threads ?? Math.max(1, Math.min(ofCores, Math.floor(memory / THREAD_BYTES)))
}
