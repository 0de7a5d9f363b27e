import type { Problem } from '../../base/problem.ts'

/** How many requests were refused, by the code of the problem and the limit that was reached, if one was. */
export class RefusalCounts {
  readonly #counts: Record<string, Record<string, number>> = {}

  /** By code, then by limit; the limit is an empty text if the problem has none. */
  get counts(): Readonly<Record<string, Readonly<Record<string, number>>>> {
    return this.#counts
  }

  count({ code, limit: reached }: Pick<Problem, 'code' | 'limit'>): void {
    const limit = reached ?? ''
    this.#counts[code] ??= {}
    const ofCode = this.#counts[code]
    ofCode[limit] = (ofCode[limit] ?? 0) + 1
  }
}
