import { useMutation } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useRef, useState } from 'react'
import { asProblem } from '../../api/problem.ts'
import { Dialog } from './dialog.tsx'

type State = 'waiting' | 'running' | 'done' | { failure: string }

/**
 * Confirms an action on several rows: lists them all, runs the action on one after the other, and shows the result of
 * each. It stays open until the user closes it, because some may have failed.
 */
export function SeveralDialog<T>({
  title,
  children,
  action,
  done,
  rows,
  keyOf,
  cell,
  onEach,
  onEnd,
  onClose,
}: {
  title: string
  children: ReactNode
  /** The button, such as “Revoke 3 keys”. */
  action: string
  /** What a row is afterwards, such as “Revoked”. */
  done: string
  rows: readonly T[]
  keyOf: (row: T) => string
  cell: (row: T) => ReactNode
  onEach: (row: T) => Promise<unknown>
  /** Reads the list again, after the last row or a stop. */
  onEnd: () => Promise<unknown>
  /** Is told whether the action was begun. */
  onClose: (hasBegun: boolean) => void
}) {
  // The list may be read again meanwhile; the dialog is about the rows that were chosen.
  const [chosen] = useState(rows)
  const [words] = useState({ title, action })
  const [states, setStates] = useState<Record<string, State>>({})
  const isStopped = useRef(false)
  const stateOf = (row: T): State => states[keyOf(row)] ?? 'waiting'
  const isDone = (row: T) => stateOf(row) === 'done'
  const run = useMutation({
    mutationFn: async () => {
      isStopped.current = false
      for (const row of chosen) {
        if (isDone(row)) continue
        if (isStopped.current) return
        const set = (state: State) => setStates((all) => ({ ...all, [keyOf(row)]: state }))
        set('running')
        try {
          await onEach(row)
          set('done')
        } catch (error) {
          set({ failure: asProblem(error).message })
        }
      }
    },
    onSettled: onEnd,
  })
  const left = chosen.filter((row) => !isDone(row)).length
  const hasBegun = run.status !== 'idle'
  const submit = (event: FormEvent) => {
    event.preventDefault()
    run.mutate()
  }
  const leave = () => {
    if (run.isPending) isStopped.current = true
    else onClose(hasBegun)
  }
  return (
    <Dialog title={words.title} onClose={leave}>
      <form className="stack" onSubmit={submit}>
        {children}
        <ul className="several">
          {chosen.map((row) => (
            <li key={keyOf(row)}>
              <span>{cell(row)}</span> <Result state={stateOf(row)} done={done} />
            </li>
          ))}
        </ul>
        <p className="small soft" role="status">
          {hasBegun && `${done}: ${chosen.length - left} of ${chosen.length}.`}
        </p>
        <div className="dialog-foot">
          <button type="button" className="button" onClick={leave}>
            {run.isPending ? 'Stop' : hasBegun ? 'Close' : 'Cancel'}
          </button>
          {left > 0 && (
            <button type="submit" className="button primary danger" disabled={run.isPending}>
              {hasBegun && !run.isPending ? 'Try the rest again' : words.action}
            </button>
          )}
        </div>
      </form>
    </Dialog>
  )
}

function Result({ state, done }: { state: State; done: string }) {
  if (state === 'waiting') return null
  if (state === 'running') return <span className="badge">Running</span>
  if (state === 'done') return <span className="badge good">{done}</span>
  return <span className="failure">{state.failure}</span>
}
