import { type RowProblem, SourceError } from '../source-error.ts'

/** Rows of a file cannot be published: the first problems, and the total number of problems. */
export class InvalidSourceError extends SourceError {
  override name = 'InvalidSourceError'
  readonly file: string
  readonly problems: RowProblem[]
  readonly problemCount: number

  constructor(file: string, problems: RowProblem[], problemCount: number) {
    const first = problems[0]
    const count = problemCount === 1 ? '1 row' : `${problemCount} rows`
    super(
      `${file} has ${count} that cannot be published.${first ? ` Row ${first.row}: ${first.message}.` : ''}`,
    )
    this.file = file
    this.problems = problems
    this.problemCount = problemCount
  }
}

/** A file that ends unexpectedly usually has an earlier error, so report the row problems too. */
export function withRowProblems(error: unknown, file: string, rowProblems: FoundProblems): unknown {
  const last = rowProblems.problems.at(-1)
  if (!(error instanceof SourceError) || last === undefined) return error
  // The list keeps its length if it was cut at the usual ten.
  const firstProblems =
    rowProblems.problems.length === 10 ? rowProblems.problems.slice(0, 9) : rowProblems.problems
  const problems = [...firstProblems, { row: last.row, message: `${error.message} (later on)` }]
  return new InvalidSourceError(file, problems, rowProblems.problemCount + 1)
}

export interface FoundProblems {
  problems: RowProblem[]
  problemCount: number
}
