import { useState } from 'react'

/** Which rows of a list are chosen for an action on all of them. */
export interface RowChoice<T> {
  isChosen: (row: T) => boolean
  /** Whether the action is possible for a row at all. */
  canChoose: (row: T) => boolean
  /** The row's name, for screen readers. */
  nameOf: (row: T) => string
  onToggle: (row: T) => void
}

/** Null while the user does not choose: lists have no boxes until they are asked for. */
export function useRowChoice<T>({
  rows,
  keyOf,
  nameOf,
  canChoose,
}: {
  rows: readonly T[]
  keyOf: (row: T) => string
  nameOf: (row: T) => string
  canChoose: (row: T) => boolean
}) {
  const [keys, setKeys] = useState<ReadonlySet<string> | null>(null)
  const possible = rows.filter(canChoose)
  // An action may have made itself impossible for a row: a revoked key is not revoked again.
  const isChosen = (row: T) => canChoose(row) && (keys?.has(keyOf(row)) ?? false)
  const choice: RowChoice<T> = {
    isChosen,
    canChoose,
    nameOf,
    onToggle: (row) => {
      const next = new Set(keys)
      if (!next.delete(keyOf(row))) next.add(keyOf(row))
      setKeys(next)
    },
  }
  return {
    choice: keys === null ? undefined : choice,
    /** Only rows that are shown: what a search hides is not acted on. */
    chosen: possible.filter(isChosen),
    possible,
    begin: () => setKeys(new Set()),
    end: () => setKeys(null),
    chooseAll: () => setKeys(new Set(possible.map(keyOf))),
  }
}
