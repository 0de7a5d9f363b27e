import { Icon } from '../components/icon.tsx'
import { ProblemNote } from '../components/problem-note.tsx'
import { bytes, formatName } from '../words.ts'
import { useDownload } from './use-download.ts'

/** One format of one version, with its download button, progress and result. */
export function DownloadRow({
  table,
  format,
  version,
  disabled,
}: {
  table: string
  format: string
  version?: number
  disabled: boolean
}) {
  const { state, start, stop } = useDownload(table, format, version)
  const name = formatName(format)
  const running = state.kind === 'running'
  return (
    <li>
      <div className="row spread">
        <span>{name}</span>
        {running ? (
          <button type="button" className="button small" onClick={stop}>
            Stop
          </button>
        ) : (
          <button
            type="button"
            className="button small"
            onClick={start}
            disabled={disabled}
            aria-label={`Download ${name}`}
          >
            <Icon name="download" /> Download
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
              : 'Asking for the file'}
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
