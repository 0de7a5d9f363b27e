import type { ReactNode } from 'react'
import { Icon } from '../../components/icon.tsx'
import { ProblemNote } from '../../components/page/problem-note.tsx'
import { bytes, formatName, plural } from '../../words.ts'
import type { DownloadState } from './download-store.ts'
import { useDownload, type WholeFile } from './use-download.ts'

/** One format of one version, with its size, its download button, progress and result. */
export function DownloadRow({
  size = null,
  credits = 0,
  isPaid = false,
  disabled,
  ...file
}: WholeFile & {
  /** In bytes; null if it is not known yet. */
  size?: number | null
  /** The price of one download. */
  credits?: number
  /** Whether the user has paid for it and may download it again. */
  isPaid?: boolean
  disabled: boolean
}) {
  const { state, start, stop } = useDownload({ ...file, maxCredits: isPaid ? 0 : credits })
  return (
    <FileRow
      name={formatName(file.format)}
      note={
        <>
          <span className="small soft">
            {size === null ? 'Built on request; its size is shown then' : bytes(size)}
          </span>
          {isPaid && <span className="badge good">Already paid</span>}
        </>
      }
      price={isPaid ? undefined : credits}
      state={state}
      onStart={start}
      onStop={stop}
      disabled={disabled}
    />
  )
}

/** A file that can be downloaded. */
export function FileRow({
  name,
  note,
  price,
  state,
  onStart,
  onStop,
  disabled,
}: {
  name: string
  note?: ReactNode
  /** In credits; undefined while it is not known. */
  price: number | undefined
  state: DownloadState
  onStart: () => void
  onStop: () => void
  disabled: boolean
}) {
  const running = state.kind === 'running'
  return (
    <li>
      <div className="row spread">
        <span className="row">
          {name} {note}
        </span>
        {running ? (
          <button type="button" className="button small" onClick={onStop}>
            Stop
          </button>
        ) : (
          <button type="button" className="button small" onClick={onStart} disabled={disabled}>
            <Icon name="download" /> Download
            <span className="visually-hidden">
              {' '}
              {name}
              {price ? ' for ' : ' '}
            </span>
            {price !== undefined && (
              <span className="button-price">{price === 0 ? 'Free' : plural(price, 'credit')}</span>
            )}
          </button>
        )}
      </div>
      {running && (
        <>
          <progress
            aria-label={`Download of ${name}`}
            value={state.progress?.total ? state.progress.received : undefined}
            max={state.progress?.total}
          />
          <span className="small soft">
            {state.progress
              ? `${bytes(state.progress.received)}${of(state.progress.total)}`
              : 'Requesting the file'}
          </span>
        </>
      )}
      <span className="small soft" role="status">
        {state.kind === 'done' && `Downloaded, ${bytes(state.bytes)}`}
      </span>
      {state.kind === 'failed' && <ProblemNote error={state.error} />}
    </li>
  )
}

const of = (total: number | undefined) => (total ? ` of ${bytes(total)}` : '')
