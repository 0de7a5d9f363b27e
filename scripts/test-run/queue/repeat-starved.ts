import type { Step, StepResult } from '../step.ts'
import type { StolenTime } from './stolen-time.ts'

const MAX_REPEATS = 3

/**
 * Repeats the steps that failed while the host withheld the machine's processors, one at a time and once it has them
 * again; their results are replaced. Without that excuse a failure stays a failure, and so does a repeated one. `run`
 * appends its result.
 */
export async function repeatStarved(
  results: StepResult[],
  stolen: Pick<StolenTime, 'wasStarved' | 'recovered'>,
  run: (step: Step) => Promise<void>,
): Promise<void> {
  const isExcused = ({ counts, from, to }: StepResult) => counts.failed > 0 && stolen.wasStarved(from, to)
  for (let repeats = 0; repeats < MAX_REPEATS; repeats++) {
    for (const result of results.filter(isExcused)) {
      results.splice(results.indexOf(result), 1)
      await stolen.recovered()
      await run(result.step)
    }
  }
}
