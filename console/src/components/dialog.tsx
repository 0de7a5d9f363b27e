import { type ReactNode, useEffect, useId, useRef } from 'react'

/** A modal dialog. The browser keeps the focus inside, and Escape asks to close it. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  title: string
  onClose: () => void
  children: ReactNode
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const leaving = useRef(false)
  const id = useId()
  useEffect(() => {
    const element = dialog.current!
    leaving.current = false
    if (!element.open) element.showModal()
    return () => {
      leaving.current = true
      element.close()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      className="fades"
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClose={() => {
        // A second Escape closes it without asking: whether it may close is for its owner to say.
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
