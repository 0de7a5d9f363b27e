import type { FinalColumn, IdSource } from '../assemble.ts'
import { ANY_TYPE, TYPE } from '../columns/value-text.ts'

/**
 * Whether the texts of features that were made while rows were read are right now that all have been read: they
 * were made by the columns known then, and by the types that the rows of one chunk had.
 */
export interface StagedTexts {
  /** False where chunks disagreed about the columns. */
  isWhole: boolean
  /** The columns of all texts, in order; null before the first. */
  names: string[] | null
  /** For each, the types for which all texts are right; the same for ids. */
  types: number[]
  idTypes: number
  /** Of ids, geometries and properties together. */
  bytes: number
}

export function noTexts(): StagedTexts {
  return { isWhole: true, names: null, types: [], idTypes: ANY_TYPE, bytes: 0 }
}

/** Adds what was found of other rows. */
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
  // An id is an integer or a string: a column of others is spelt in another way as an id.
  const isSpelt = id?.type !== 'number' && id?.type !== 'boolean'
  const isId = id === null || (isSpelt && (idTypes & TYPE[id.type]) !== 0)
  return areColumns && areTyped && isId
}

function areSame(a: string[], b: string[]): boolean {
  return a.length === b.length && a.every((name, i) => name === b[i])
}
