import { ANY_TYPE, TYPE } from '../../pack/value-text.ts'
import type { FinalColumn, IdSource } from '../assemble.ts'

/**
 * Whether the feature texts that were made while rows were read are still correct once all rows have been
 * read. They are based on the columns known at that time, and on the types of the rows of one chunk.
 */
export interface StagedTexts {
  /** False if chunks had different columns. */
  isWhole: boolean
  /** The columns of all texts, in order; null before the first chunk. */
  names: string[] | null
  /** For each column, the types for which all texts are correct; likewise for ids. */
  types: number[]
  idTypes: number
  /** The total bytes of ids, geometries and properties. */
  bytes: number
}

export function noTexts(): StagedTexts {
  return { isWhole: true, names: null, types: [], idTypes: ANY_TYPE, bytes: 0 }
}

/** Adds the results of other rows. */
export function joinTexts(into: StagedTexts, other: StagedTexts): void {
  into.bytes += other.bytes
  into.idTypes &= other.idTypes
  into.isWhole &&= other.isWhole
  if (other.names === null) return
  if (into.names === null) {
    into.names = other.names
    into.types = [...other.types]
    return
  }
  into.isWhole &&= areSame(into.names, other.names)
  into.types = into.types.map((types, i) => types & (other.types[i] ?? 0))
}

export function areRight(texts: StagedTexts, columns: FinalColumn[], id: IdSource): boolean {
  const { isWhole, names, types, idTypes } = texts
  if (!isWhole || names === null) return false
  const areColumns = areSame(
    names,
    columns.map(({ name }) => name),
  )
  const areTyped = columns.every(({ type }, i) => ((types[i] ?? 0) & TYPE[type]) !== 0)
  // An id is an integer or a string, so numbers and booleans are formatted differently as ids than as values.
  const isSpelt = id?.type !== 'number' && id?.type !== 'boolean'
  const isId = id === null || (isSpelt && (idTypes & TYPE[id.type]) !== 0)
  return areColumns && areTyped && isId
}

function areSame(a: string[], b: string[]): boolean {
  return a.length === b.length && a.every((name, i) => name === b[i])
}
