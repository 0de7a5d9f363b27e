import type { useRowChoice } from './use-row-choice.ts'

type Choosing<T> = ReturnType<typeof useRowChoice<T>>

/** Below a list while rows are chosen: how many there are, and what can be done with them. */
export function ChoiceBar<T>({
  choosing,
  action,
  onAction,
}: {
  choosing: Choosing<T>
  action: string
  onAction: () => void
}) {
  const { choice, chosen, possible, chooseAll, end } = choosing
  if (!choice) return null
  return (
    <div className="choice-bar">
      <span role="status">{chosen.length} selected</span>
      <button
        type="button"
        className="button small"
        disabled={chosen.length === possible.length}
        onClick={chooseAll}
      >
        Select all {possible.length}
      </button>
      <button type="button" className="button small danger" disabled={chosen.length === 0} onClick={onAction}>
        {action}
      </button>
      <button type="button" className="button quiet small" onClick={end}>
        Cancel
      </button>
    </div>
  )
}

/** Begins to choose rows; only if the action is possible for several. */
export function ChooseButton<T>({ choosing, of }: { choosing: Choosing<T>; of: string }) {
  const { choice, possible, begin } = choosing
  if (choice || possible.length < 2) return null
  return (
    <button type="button" className="button" aria-label={`Select several ${of}`} onClick={begin}>
      Select
    </button>
  )
}
