import type { Value } from '../../feature.ts'
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

/** A row's number, or any other value that is not a text. */
const NUMBER_BYTES = 8

/** The bytes of a row's values: texts by their characters, so that nothing has to be encoded to know it. */
export function rowValueBytes(values: Value[]): number {
  let bytes = NUMBER_BYTES
  for (let i = 0; i < values.length; i++) {
    const value = values[i]
    if (typeof value === 'string') bytes += value.length
    else if (typeof value === 'object') bytes += value === null ? 0 : nestedBytes(value)
    else bytes += NUMBER_BYTES
  }
  return bytes
}

function nestedBytes(value: Value): number {
  if (typeof value === 'string') return value.length + 2
  if (value === null || typeof value !== 'object') return NUMBER_BYTES
  let bytes = 2
  if (Array.isArray(value)) for (const inner of value) bytes += nestedBytes(inner)
  else for (const name in value) bytes += name.length + nestedBytes(value[name]!)
  return bytes
}
