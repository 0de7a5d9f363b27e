import { SourceError } from '../source-error.ts'

/** A file differs from what the publisher fixed about the dataset. */
export class SchemaMismatchError extends SourceError {
  override name = 'SchemaMismatchError'
  readonly file: string
  /** One sentence for each difference. */
  readonly misfits: string[]

  constructor(file: string, misfits: string[]) {
    const listed = misfits.slice(0, 10).join(' ')
    const more = misfits.length > 10 ? ` And ${misfits.length - 10} more.` : ''
    super(
      `${file} does not fit the schema of the dataset: ${listed}${more} Nothing was published. Correct the file or the schema, or publish it with --ignore-schema (ignoreSchema=true).`,
    )
    this.file = file
    this.misfits = misfits
  }
}
