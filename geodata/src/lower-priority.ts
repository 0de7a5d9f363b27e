import { setPriority } from 'node:os'

/**
 * Gives other processes priority over this one, or over the one with the given id, on machines with few cores. A
 * sandbox may refuse the call (EPERM from a seccomp filter); the work is done at the normal priority then.
 */
export function lowerPriority(niceness: number, pid = process.pid): void {
  try {
    setPriority(pid, niceness)
  } catch {
    // Only the order of work on a busy machine depends on it.
  }
}
