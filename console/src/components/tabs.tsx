import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef } from 'react'
import { revealCurrentTab } from './reveal-current-tab.ts'

/** Tabs: one part of a page is shown at a time; the arrow keys move between the tabs. */
export function Tabs<T extends string>({
  label,
  tabs,
  chosen,
  onChoose,
  children,
}: {
  label: string
  tabs: Record<T, string>
  chosen: T
  onChoose: (tab: T) => void
  children: ReactNode
}) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  // The effect depends on the chosen tab, which it finds by its state.
  useEffect(() => revealCurrentTab(list.current), [chosen])
  const names = Object.keys(tabs) as T[]
  const move = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (step === 0) return
    event.preventDefault()
    const next = names[(names.indexOf(chosen) + step + names.length) % names.length]!
    onChoose(next)
    document.getElementById(`${id}-${next}`)?.focus()
  }
  return (
    <div className="stack">
      <div ref={list} className="tabs" role="tablist" aria-label={label}>
        {names.map((name) => (
          <button
            key={name}
            id={`${id}-${name}`}
            type="button"
            role="tab"
            aria-selected={name === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={name === chosen ? 0 : -1}
            onClick={() => onChoose(name)}
            onKeyDown={move}
          >
            {tabs[name]}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen}`}>
        {children}
      </div>
    </div>
  )
}
