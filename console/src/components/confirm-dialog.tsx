import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Dialog } from './dialog.tsx'
import { ProblemNote } from './problem-note.tsx'

/** Asks before doing, in words that say what will happen; closes once it is done. */
export function ConfirmDialog({
  title,
  children,
  action,
  danger = false,
  onConfirm,
  onClose,
}: {
  title: string
  children: ReactNode
  action: string
  danger?: boolean
  onConfirm: () => Promise<unknown>
  onClose: () => void
}) {
  const run = useMutation({ mutationFn: onConfirm, onSuccess: onClose })
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="stack-small">{children}</div>
      {run.isError && <ProblemNote error={run.error} />}
      <div className="dialog-foot">
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          className={`button primary${danger ? ' danger' : ''}`}
          onClick={() => run.mutate()}
          disabled={run.isPending}
        >
          {action}
        </button>
      </div>
    </Dialog>
  )
}
