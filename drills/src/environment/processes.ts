import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** All descendants of a process, children before grandchildren, from Linux's process table. */
export function descendantsOf(pid: number): number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]))
    } catch {
      // The process ended while the table was read.
    }
  }
  const descendants: number[] = []
  for (let level = [pid]; level.length > 0; ) {
    level = [...parents].filter(([, parent]) => level.includes(parent)).map(([child]) => child)
    descendants.push(...level)
  }
  return descendants
}

/** Sends a signal to a process that may have ended already. */
export function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2)[0] !== 'Z'
  } catch {
    return false
  }
}

/** Resolves with true when the condition holds, or with false after the time limit. */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  withinMs: number,
  everyMs = 25,
): Promise<boolean> {
  const deadline = performance.now() + withinMs
  for (;;) {
    if (await condition()) return true
    if (performance.now() > deadline) return false
    await sleep(everyMs)
  }
}
