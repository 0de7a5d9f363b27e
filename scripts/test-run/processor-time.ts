import { existsSync, readFileSync } from 'node:fs'

/** Linux counts processor time in hundredths of a second for programs, whatever the kernel's own unit is. */
const TICKS_PER_SECOND = 100

/**
 * Seconds of processor time of the child processes that have ended, and of theirs. Unlike the time on the wall, it
 * does not depend on how busy the machine is. 0 on systems without /proc.
 */
export function endedProcessorSeconds(): number {
  if (!existsSync('/proc/self/stat')) return 0
  const text = readFileSync('/proc/self/stat', 'utf8')
  // The name of the program, in parentheses, may contain spaces. After it, fields 3 (state) and on; cutime is 16.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND
}

/** Seconds of processor time of this process, and of its child processes that have ended. */
export function usedProcessorSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000_000 + endedProcessorSeconds()
}
