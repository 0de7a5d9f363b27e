import { Icon } from '../../components/icon.tsx'
import type { Clause } from './clause.ts'
import { clauseWords } from './clause-words.ts'

/** Filters by the value that it stands beside; a second click shows all rows again. */
export function OnlyThese({
  clause,
  onPick,
  isReachable = true,
}: {
  clause: Clause | null
  onPick: ((clause: Clause) => void) | undefined
  /** False if a key does the same where the focus is. */
  isReachable?: boolean
}) {
  if (!clause || !onPick) return null
  const words = `Only rows with ${clauseWords(clause)}`
  return (
    <button
      type="button"
      className="cell-tool"
      tabIndex={isReachable ? undefined : -1}
      title={isReachable ? words : `${words} (F)`}
      aria-label={words}
      onClick={(event) => {
        event.stopPropagation()
        onPick(clause)
      }}
    >
      <Icon name="filter" />
    </button>
  )
}
