import { expandsBeyond } from '../../formats/reading/source-limits.ts'
import { SourceError } from '../../source-error.ts'

/** What the values of a source may take. It is plain data that can be posted to a worker. */
export interface ExpansionBound {
  file: string
  fileBytes: number
  /** The max bytes of all values, from `maxValueBytes`. */
  maxBytes: number
  /** The bytes so far, which all threads count together. */
  counter: SharedArrayBuffer
}

export function expansionBound(file: string, fileBytes: number, maxBytes: number): ExpansionBound {
  return { file, fileBytes, maxBytes, counter: new SharedArrayBuffer(8) }
}

/** Refuses a source whose values exceed the bound. Every reader's rows are counted here, before they are written. */
export class ExpansionLimit {
  readonly #bound: ExpansionBound
  readonly #counter: BigInt64Array

  constructor(bound: ExpansionBound) {
    this.#bound = bound
    this.#counter = new BigInt64Array(bound.counter)
  }

  add(bytes: number): void {
    const before = Atomics.add(this.#counter, 0, BigInt(bytes))
    const { file, fileBytes, maxBytes } = this.#bound
    if (Number(before) + bytes > maxBytes) throw new SourceError(expandsBeyond(file, maxBytes, fileBytes))
  }
}
