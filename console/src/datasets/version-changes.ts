import type { Archive } from '@wayleave/client'
import { count, plural, signed } from '../words.ts'

/** How many features differ from the version before: in signs, and in words for those who cannot see the signs. */
export function featureChanges({ added, removed, changed }: NonNullable<Archive['changes']>): {
  short: string
  words: string
} {
  if (added + removed + changed === 0) return { short: 'no feature changed', words: 'No feature changed' }
  return {
    short: `+${count(added)} −${count(removed)} ~${count(changed)}`,
    words: `${plural(added, 'feature')} added, ${count(removed)} removed, ${count(changed)} changed`,
  }
}

/** What changed from the version before, in counts; null for the first version. */
export function versionChanges(version: Archive, before: Archive | undefined): string | null {
  if (before === undefined) return null
  const names = (archive: Archive) => new Set(archive.columns.map(({ name }) => name))
  const [now, earlier] = [names(version), names(before)]
  const added = [...now].filter((name) => !earlier.has(name)).length
  const removed = [...earlier].filter((name) => !now.has(name)).length
  const retyped = version.columns.filter(({ name, type }) =>
    before.columns.some((column) => column.name === name && column.type !== type),
  ).length
  const rows = version.rows - before.rows
  const parts = [
    rows === 0 ? 'same number of rows' : `${signed(rows)} ${Math.abs(rows) === 1 ? 'row' : 'rows'}`,
    added > 0 && `${plural(added, 'new column')}`,
    removed > 0 && `${plural(removed, 'column')} removed`,
    retyped > 0 && `${plural(retyped, 'column')} of another type`,
  ]
  return parts.filter(Boolean).join(', ')
}
