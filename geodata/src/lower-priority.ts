import { setPriority } from 'node:os'

/**
 * Gives other processes priority over this one, on machines with few cores. A sandbox may refuse the call (EPERM from
 * a seccomp filter); the work is done at the normal priority then.
 */
export function lowerPriority(niceness: number): void {
  try {
    setPriority(niceness)
  } catch {
    // Only the order of work on a busy machine depends on it.
  }
}
