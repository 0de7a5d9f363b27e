import type { Feature } from '@wayleave/client'
import { useMemo, useState } from 'react'
import { columnWidths } from './column-widths.ts'

const [MIN_REM, MAX_REM] = [3, 60]

export interface ColumnLayout {
  /** The columns in the order of the table: the pinned ones first. */
  names: string[]
  /** In rem, by name. */
  widths: ReadonlyMap<string, number>
  /** How far from the left edge a pinned column stays, in rem; undefined for the others. */
  pinnedAt: (name: string) => number | undefined
  resize: (name: string, rem: number) => void
  togglePin: (name: string) => void
}

/** The widths and the pinned columns of a table. Widths come from the first rows until they are changed. */
export function useColumnLayout(
  shown: readonly string[],
  rows: readonly Feature[],
  types: ReadonlyMap<string, string>,
): ColumnLayout {
  const [chosen, setChosen] = useState<ReadonlyMap<string, number>>(new Map())
  const [pinned, setPinned] = useState<readonly string[]>([])
  const usual = useMemo(() => {
    const widths = columnWidths(shown, rows, types).map(remOfCharacters)
    return new Map(shown.map((name, index) => [name, widths[index]!]))
  }, [shown.join(), rows[0]])
  const widthOf = (name: string) => chosen.get(name) ?? usual.get(name)!
  const first = pinned.filter((name) => shown.includes(name))
  const names = [...first, ...shown.filter((name) => !first.includes(name))]
  const bounded = (rem: number) => Math.max(MIN_REM, Math.min(MAX_REM, rem))
  return {
    names,
    widths: new Map(names.map((name) => [name, widthOf(name)])),
    pinnedAt: (name) => {
      const index = first.indexOf(name)
      return index < 0 ? undefined : first.slice(0, index).reduce((sum, one) => sum + widthOf(one), 0)
    },
    resize: (name, rem) => setChosen(new Map([...chosen, [name, bounded(rem)]])),
    togglePin: (name) =>
      setPinned(pinned.includes(name) ? pinned.filter((one) => one !== name) : [...pinned, name]),
  }
}

/** The width of a column, padding included. Digits are wider than most letters, and must not be cut off. */
function remOfCharacters(characters: number): number {
  return characters * 0.61 + 1.6
}
