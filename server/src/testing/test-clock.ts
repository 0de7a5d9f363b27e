import type { Clock } from '../clock.ts'

export interface TestClock {
  clock: Clock
  /** Moves the time on. */
  pass(milliseconds: number): void
}

/** The real time, moved on as the test says. */
export function testClock(): TestClock {
  let moved = 0
  return {
    clock: () => new Date(Date.now() + moved),
    pass: (milliseconds) => {
      moved += milliseconds
    },
  }
}
