import { type KeyboardEvent, useEffect, useState } from 'react'

/** The column of the current cell, which the left and right arrows move, and the copy of its value. */
export function useCopiedCell(columns: number, textOf: (column: number) => string) {
  const [column, setColumn] = useState<number | null>(null)
  const [message, setMessage] = useState('')
  useEffect(() => {
    if (message === '') return
    const timer = setTimeout(() => setMessage(''), 2500)
    return () => clearTimeout(timer)
  }, [message])
  const copy = async (at: number) => {
    try {
      await navigator.clipboard.writeText(textOf(at))
      setMessage('Copied')
    } catch {
      // Browsers allow clipboard access only in secure contexts.
      setMessage('The browser does not allow to copy here')
    }
  }
  /** Returns whether the key was used. */
  const onKey = (event: KeyboardEvent): boolean => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (step !== 0) {
      setColumn((at) => (at === null ? 0 : Math.max(0, Math.min(columns - 1, at + step))))
    } else if (
      event.key === 'c' &&
      (event.ctrlKey || event.metaKey) &&
      getSelection()?.isCollapsed !== false
    ) {
      void copy(column ?? 0)
    } else return false
    event.preventDefault()
    return true
  }
  return { column, setColumn, copy, onKey, message }
}
