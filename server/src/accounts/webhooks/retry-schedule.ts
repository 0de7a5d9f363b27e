import { DAY, HOUR, MINUTE, plus, SECOND } from '../../base/clock.ts'

/** The pauses between attempts: twelve attempts over more than a day. */
const PAUSES = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  6 * HOUR,
  8 * HOUR,
  4 * HOUR,
]
/** Pauses are longer by up to this share, so that messages that failed together are not repeated together. */
const JITTER = 0.2
/** A webhook that has failed for so long is paused. */
export const MAX_FAILING = DAY

/** When a message is tried again after so many failures; null: not by itself. */
export function nextAttempt(failures: number, now: Date, random: () => number): Date | null {
  const pause = PAUSES[failures - 1]
  return pause === undefined ? null : plus(now, Math.round(pause * (1 + JITTER * random())))
}
