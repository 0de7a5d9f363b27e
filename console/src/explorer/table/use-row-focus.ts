import type { Virtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, useLayoutEffect, useRef, useState } from 'react'

const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 14, PageUp: -14 }

/** The row that has the focus, and the keys that move it. A row that is not in the page gets it when it is. */
export function useRowFocus(
  virtual: Virtualizer<HTMLElement, Element>,
  count: number,
  onSelect: (index: number) => void,
) {
  const [focused, setFocused] = useState(0)
  const wantsFocus = useRef(false)
  useLayoutEffect(() => {
    if (!wantsFocus.current) return
    const row = virtual.scrollElement?.querySelector<HTMLElement>(`[data-index="${focused}"]`)
    if (!row) return
    row.focus({ preventScroll: true })
    wantsFocus.current = false
  })

  const onKeyDown = (event: KeyboardEvent) => {
    const target = targetOf(event.key, focused, count)
    if (target !== null) {
      event.preventDefault()
      wantsFocus.current = true
      setFocused(target)
      virtual.scrollToIndex(target)
    } else if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault()
      onSelect(focused)
    }
  }
  return { focused, setFocused, onKeyDown }
}

function targetOf(key: string, focused: number, count: number): number | null {
  if (key === 'Home') return 0
  if (key === 'End') return count - 1
  const step = steps[key]
  return step === undefined ? null : Math.max(0, Math.min(count - 1, focused + step))
}
