import { readFileSync } from 'node:fs'

/** Descriptors kept for the databases, open snapshots, logs and child processes; half of them all if there are few. */
const RESERVED = 256
/** A connection and the file that is sent over it. */
const PER_CONNECTION = 2

/** How many files and sockets this process may have open; null if the system does not say. */
export function descriptorLimit(limitsFile = '/proc/self/limits'): number | null {
  let text: string
  try {
    text = readFileSync(limitsFile, 'utf8')
  } catch {
    return null
  }
  const soft = /^Max open files\s+(\d+)\s/m.exec(text)?.[1]
  return soft === undefined ? null : Number(soft)
}

/** How many connections fit without ever running out of descriptors. */
export function connectionsWithin(descriptors: number): number {
  const free = descriptors - Math.min(RESERVED, Math.ceil(descriptors / 2))
  return Math.max(1, Math.floor(free / PER_CONNECTION))
}
