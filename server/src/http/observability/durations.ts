/** Upper bounds in seconds, for work that takes from a fraction of a second to hours. */
export const DURATION_BOUNDS = [0.1, 0.5, 2, 10, 60, 300, 1800, 7200]

/** A histogram: durations counted in buckets by their upper bound. */
export class Durations {
  /** By the first bound that is not exceeded; the last bucket is for durations above all bounds. */
  readonly counts: number[] = Array(DURATION_BOUNDS.length + 1).fill(0)
  seconds = 0

  /** Starts a measurement; the returned function ends it. */
  start(): () => void {
    const began = performance.now()
    return () => this.add((performance.now() - began) / 1000)
  }

  add(seconds: number): void {
    const index = DURATION_BOUNDS.findIndex((bound) => seconds <= bound)
    this.counts[index === -1 ? DURATION_BOUNDS.length : index]!++
    this.seconds += seconds
  }
}
