import { useMutation } from '@tanstack/react-query'
import type { FormEvent, ReactNode } from 'react'
import { ProblemNote } from '../page/problem-note.tsx'
import { Dialog } from './dialog.tsx'

/** A confirmation dialog that says what will happen, runs the action, and closes when it has succeeded. */
export function ActionDialog({
  title,
  children,
  action,
  danger = false,
  fields = [],
  onAction,
  onClose,
}: {
  title: string
  /** If it is a function, it receives the error, to show it next to its field. */
  children: ReactNode | ((error: unknown) => ReactNode)
  action: string
  danger?: boolean
  /** The paths of the fields among the children that show their errors themselves. */
  fields?: readonly string[]
  onAction: () => Promise<unknown>
  onClose: () => void
}) {
  const run = useMutation({ mutationFn: onAction, onSuccess: onClose })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    run.mutate()
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        {typeof children === 'function' ? children(run.error) : children}
        {run.isError && <ProblemNote error={run.error} fields={fields} />}
        <div className="dialog-foot">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            className={`button primary${danger ? ' danger' : ''}`}
            disabled={run.isPending}
          >
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
