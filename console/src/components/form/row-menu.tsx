import type { KeyboardEvent } from 'react'
import { Icon } from '../icon.tsx'
import { PopUp } from './pop-up.tsx'

export interface RowAction {
  label: string
  isDanger?: boolean
  onChoose: () => void
}

/** Where the arrow keys, Home and End lead from an entry. */
const STEPS: Record<string, (at: number, last: number) => number> = {
  ArrowDown: (at, last) => (at === last ? 0 : at + 1),
  ArrowUp: (at, last) => (at <= 0 ? last : at - 1),
  Home: () => 0,
  End: (_, last) => last,
}

/** The actions of a row behind one button. Actions that are not possible are left out by `false`. */
export function RowMenu({
  of,
  actions,
  id,
}: {
  of: string
  actions: (RowAction | false)[]
  /** What names the row in the API and on the command line, to copy. */
  id?: string
}) {
  const possible = actions.filter((action) => action !== false)
  // Browsers allow clipboard access only in secure contexts; elsewhere there is no such action.
  if (id !== undefined && 'clipboard' in navigator) {
    const copy = { label: 'Copy the id', onChoose: () => void navigator.clipboard.writeText(id) }
    const danger = possible.findIndex(({ isDanger }) => isDanger)
    possible.splice(danger < 0 ? possible.length : danger, 0, copy)
  }
  if (possible.length === 0) return null
  return (
    <PopUp
      className="button quiet small more"
      label={`Actions for ${of}`}
      button={<Icon name="more" />}
      isMenu
    >
      {(close) =>
        possible.map(({ label, isDanger = false, onChoose }) => (
          <button
            key={label}
            type="button"
            role="menuitem"
            tabIndex={-1}
            className={isDanger ? 'danger' : undefined}
            onKeyDown={(event) => onKey(event, close)}
            onClick={() => {
              // The button has the focus again before a dialog opens, which gives it back at its end.
              close()
              onChoose()
            }}
          >
            {label}
          </button>
        ))
      }
    </PopUp>
  )
}

function onKey(event: KeyboardEvent<HTMLElement>, close: () => void): void {
  if (event.key === 'Tab') {
    close()
    return
  }
  const step = STEPS[event.key]
  if (!step) return
  event.preventDefault()
  const entries = [...event.currentTarget.parentElement!.children] as HTMLElement[]
  entries[step(entries.indexOf(event.currentTarget), entries.length - 1)]!.focus()
}
