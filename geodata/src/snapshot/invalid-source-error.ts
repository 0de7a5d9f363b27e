import { type RowProblem, SourceError } from '../source-error.ts'

/** Rows of a file cannot be published: the first problems, and how many there are in all. */
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
