import { readFileSync } from 'node:fs'

/** Reserved for the databases, open snapshots, logs and child processes; at most half of the limit. */
const RESERVED = 256
/** One for the connection and one for the file that is sent over it. */
const PER_CONNECTION = 2

/** Max number of open files and sockets of this process; null if the system does not report it. */
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

/** How many connections fit without running out of descriptors. */
export function connectionsWithin(descriptors: number): number {
  const free = descriptors - Math.min(RESERVED, Math.ceil(descriptors / 2))
  return Math.max(1, Math.floor(free / PER_CONNECTION))
}
