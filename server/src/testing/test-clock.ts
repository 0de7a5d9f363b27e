import type { Clock } from '../base/clock.ts'

export interface TestClock {
  clock: Clock
  /** Advances the time. */
  pass(milliseconds: number): void
}

/** The real time, plus what the test advances it by. */
export function testClock(): TestClock {
  let moved = 0
  return {
    clock: () => new Date(Date.now() + moved),
    pass: (milliseconds) => {
      moved += milliseconds
    },
  }
}
