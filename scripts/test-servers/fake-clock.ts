import { existsSync } from 'node:fs'

/** The path of the library of Debian's `faketime`, for each architecture on which Debian 12 supports Node. */
const libraries = ['x86_64-linux-gnu', 'aarch64-linux-gnu'].map(
  (platform) => `/usr/lib/${platform}/faketime/libfaketime.so.1`,
)

export function hasFaketime(): boolean {
  return libraries.some((path) => existsSync(path))
}

/** Environment variables that shift the clock of a process and its children. Timers use the real clock. */
export function shiftedClock(offset: string): Record<string, string> {
  const library = libraries.find((path) => existsSync(path))
  if (!library) throw new Error('The Debian package faketime is not installed.')
  return { LD_PRELOAD: library, FAKETIME: offset, FAKETIME_DONT_FAKE_MONOTONIC: '1' }
}
