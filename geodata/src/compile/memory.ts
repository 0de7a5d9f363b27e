import { availableParallelism } from 'node:os'
import { machineMemory } from '../machine-memory.ts'

/** Enough for any file whose features are of ordinary size. */
const MIN_DEFAULT_MEGABYTES = 800

/**
 * How the memory of one compilation is divided, in megabytes. The parts add up to more than the whole, because
 * the heaps are large while rows are read, and the database is large afterwards, while it sorts them.
 */
export interface CompileMemory {
  /** The limit of the database that sorts the rows, and of one that reads a Parquet file. */
  database: number
  /** The limit of the main thread's heap, and of the heap of each thread that parses rows. */
  heap: number
  threadHeap: number
}

/** `totalMegabytes` is what one compilation may use; by default it depends on the machine. */
export function divideMemory(totalMegabytes: number = defaultMemoryMegabytes()): CompileMemory {
  return {
    database: Math.round(totalMegabytes / 2),
    heap: Math.round((totalMegabytes * 3) / 4),
    threadHeap: Math.round(totalMegabytes / 2),
  }
}

/** Sorting spills to the disk beyond this, in megabytes, which hardly takes longer. */
const SORT_MEGABYTES = 1024
/** The average size of a feature, in bytes, from which on the database may need more for a vector of rows. */
const DETAILED_BYTES = 1 << 14

/**
 * The limits of the database that sorts so many bytes of features, in megabytes. If it cannot work with the first,
 * it gets the next: only detailed features need that much, and the disk is as good for many small ones.
 */
export function sortLimits(
  total: number | undefined,
  { rows, bytes }: { rows: number; bytes: number },
): number[] {
  const { database } = divideMemory(total)
  const isDetailed = bytes > rows * DETAILED_BYTES
  return isDetailed || database <= SORT_MEGABYTES ? [database] : [SORT_MEGABYTES, database]
}

/**
 * Half of the memory of the machine or of the container, whichever is less. DuckDB holds about five copies of
 * a feature's geometry, and sorts vectors of 2,048 rows, which it cannot split: few but detailed features need
 * gigabytes where millions of points need little.
 */
export function defaultMemoryMegabytes(machineBytes?: number, containerBytes?: number): number {
  const bytes = machineMemory(machineBytes, containerBytes)
  return Math.max(MIN_DEFAULT_MEGABYTES, Math.floor(bytes / 2 / 2 ** 20))
}

/** What each of several compilations may use that run at the same time. */
export function memoryPerCompilation(count: number, total: number = defaultMemoryMegabytes()): number {
  return Math.max(MIN_DEFAULT_MEGABYTES, Math.floor(total / count))
}

const MIN_THREADS = 2
/** More threads read faster than the thread that divides the source gives them rows. */
const MAX_THREADS = 8
/** What a compilation has to be allowed for each thread, in megabytes, so that the threads take a part of it only. */
const THREAD_MEGABYTES = 512
/** With its limit of memory, the database that sorts has at least 256 MB for each of its threads. */
const MAX_DATABASE_THREADS = 4

/** How many threads read the rows of a source: one for each core of the machine or its container. */
export function readingThreads(
  { threads, memoryMegabytes = defaultMemoryMegabytes() }: { threads?: number; memoryMegabytes?: number },
  cores: number = availableParallelism(),
): number {
  const affordable = Math.floor(memoryMegabytes / THREAD_MEGABYTES)
  return threads ?? Math.max(MIN_THREADS, Math.min(MAX_THREADS, cores, affordable))
}

/** How many threads the database has that sorts the rows. */
export function databaseThreads(
  options: { threads?: number; memoryMegabytes?: number },
  cores: number = availableParallelism(),
): number {
  return Math.min(MAX_DATABASE_THREADS, readingThreads(options, cores))
}

/** The sentence for a publisher whose file needs more. */
export function needsMoreMemory(file: string, totalMegabytes: number = defaultMemoryMegabytes()): string {
  return `${file} needs more memory than the ${totalMegabytes} MB that publishing may use. WAYLEAVE_PUBLISH_MEMORY sets how much that is.`
}
