import { type ReactNode, useEffect, useId, useRef } from 'react'
import { type FocusPlace, focusPlace, returnFocus } from './focus-place.ts'

/** Where the focus was before a dialog opened; for a dialog opened from another dialog, before the first. */
const openers = new WeakMap<Element, FocusPlace>()

/**
 * A modal dialog. The browser keeps the focus inside, and Escape calls `onClose`. On close the focus goes where the
 * user continues: to `continueAt`, else to the element that had it or what is in its place (`returnFocus`). React
 * removes the dialog before the browser could restore the focus itself.
 */
export function Dialog({
  title,
  onClose,
  isWide = false,
  continueAt,
  children,
}: {
  title: string
  onClose: () => void
  /** Finds what the dialog has made, to go on from there. */
  continueAt?: (() => Element | null) | undefined
  /** For tables. */
  isWide?: boolean
  children: ReactNode
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const leaving = useRef(false)
  const id = useId()
  const next = useRef(continueAt)
  next.current = continueAt
  useEffect(() => {
    const element = dialog.current!
    leaving.current = false
    const before = document.activeElement ?? document.body
    const within = before.closest('dialog')
    const opener = (within && openers.get(within)) ?? focusPlace(before)
    openers.set(element, opener)
    keepScrollBarRoom()
    if (!element.open) element.showModal()
    return () => {
      leaving.current = true
      element.close()
      const made = next.current?.()
      returnFocus(made ? focusPlace(made) : opener)
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      className={isWide ? 'fades wide' : 'fades'}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClose={() => {
        // A second Escape closes the dialog without asking. Reopen it: only the owner decides whether it may
        // close.
        if (leaving.current) return
        dialog.current?.showModal()
        onClose()
      }}
    >
      <div className="stack">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  )
}

/** The styles hide the page's scroll bar while a dialog is open; its room is kept, so that nothing moves. */
function keepScrollBarRoom(): void {
  const { documentElement: root } = document
  if (document.querySelector('dialog:modal')) return
  root.style.setProperty('--scroll-bar', `${window.innerWidth - root.clientWidth}px`)
}
