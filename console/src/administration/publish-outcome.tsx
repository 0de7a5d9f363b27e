import type { JobRecord, PublishReportRecord, RowProblem } from '@wayleave/contract/records'
import { Link } from 'react-router'
import { useDatasets } from '../api/queries.ts'
import { FixList } from '../publishing/fix-list.tsx'
import { type FormChange, fixesOf } from '../publishing/fixes.ts'
import { count, plural, roughly, shapeName } from '../words.ts'
import { publishWords } from './publish-words.ts'

const phases: Record<string, string> = {
  reading: 'Reading the file',
  sorting: 'Sorting',
  indexing: 'Building the index',
}

/** The progress and the result of a publishing job. */
export function PublishOutcome({
  job,
  rows,
  onFix,
  onAnother,
}: {
  job: JobRecord
  /** The number of rows that can be published, if the file was looked at. */
  rows: number | null
  /** Publishes again with a change. */
  onFix: (change: FormChange) => void
  onAnother: () => void
}) {
  if (job.state === 'done' && job.report) return <Report report={job.report} onAnother={onAnother} />
  if (job.state === 'done')
    return (
      <p className="note good" role="status">
        What the file contains is shown below. Nothing is published yet.
      </p>
    )
  if (job.state === 'failed')
    return <Failure table={job.table} problem={job.problem} rows={rows} onFix={onFix} />
  if (job.state === 'cancelled') {
    return (
      <p className="note" role="status">
        The publishing of {job.table} was cancelled. Nothing was changed.
      </p>
    )
  }
  const { progress } = job
  const total = progress?.phase === 'reading' ? (progress.totalBytes ?? undefined) : undefined
  const fraction = progress?.fraction ?? (total && progress ? progress.bytesRead / total : undefined)
  return (
    <div className="stack-small" role="status">
      <p>
        {progress ? (phases[progress.phase] ?? progress.phase) : 'Queued'}
        {progress && progress.rows > 0 && `, ${plural(progress.rows, 'row')}`}
        {progress?.parts && `, ${progress.parts.done} of ${progress.parts.total} parts`}
        {progress?.remainingSeconds != null && `, about ${roughly(progress.remainingSeconds)} left`}
      </p>
      <progress aria-label="Publishing" value={fraction} max={1} />
    </div>
  )
}

function Report({ report, onAnother }: { report: PublishReportRecord; onAnother: () => void }) {
  return (
    <div className="stack-small">
      <p className="note good" role="status">
        {report.version === null ? (
          `${report.table} can be published; nothing was changed: `
        ) : (
          <>
            <Link to={`/datasets/${report.table}`}>{report.table}</Link>, version {report.version}:{' '}
          </>
        )}
        {plural(report.rows, 'row')} in {roughly(Math.max(1, Math.round(report.seconds)))}.
        {report.isDraft && ' It is a draft: nobody else sees it until it is released.'}
      </p>
      {report.version !== null && (
        <div className="row">
          <Link className="button primary" to={`/datasets/${report.table}`}>
            {report.geometryType === null ? 'See the dataset' : 'See it on the map'}
          </Link>
          <button type="button" className="button" onClick={onAnother}>
            Publish another
          </button>
        </div>
      )}
      {report.changes && (
        <p className="small">
          {plural(report.changes.added, 'row')} added, {count(report.changes.updated)} updated,{' '}
          {count(report.changes.removed)} removed.
        </p>
      )}
      <dl className="facts">
        <dt>File</dt>
        <dd>
          {report.file} ({report.format})
        </dd>
        <dt>Kind</dt>
        <dd>{shapeName(report)}</dd>
        {report.crs && (
          <>
            <dt>CRS</dt>
            <dd>
              {report.crs}
              {report.crsTransformation &&
                `, to WGS84 by ${report.crsTransformation.name} (${
                  report.crsTransformation.accuracy === null
                    ? 'accuracy not known'
                    : `accurate to ${report.crsTransformation.accuracy} m`
                })`}
            </dd>
          </>
        )}
        <dt>Columns</dt>
        <dd>{report.columns.map(({ name, type }) => `${name} (${type})`).join(', ')}</dd>
        {report.skipped > 0 && (
          <>
            <dt>Left out</dt>
            <dd>{plural(report.skipped, 'row')}</dd>
          </>
        )}
      </dl>
      <RowProblems problems={report.problems} />
      {report.notes.length > 0 && (
        <details>
          <summary>What was changed</summary>
          <ul className="small soft stack-small padded-top">
            {report.notes.map((note) => (
              <li key={note}>{publishWords(note)}</li>
            ))}
          </ul>
        </details>
      )}
    </div>
  )
}

function Failure({
  table,
  problem,
  rows,
  onFix,
}: {
  table: string
  problem: JobRecord['problem']
  rows: number | null
  onFix: (change: FormChange) => void
}) {
  const { data: datasets } = useDatasets()
  const { detail = 'The file could not be published.', problems = [], problemCount = 0 } = problem ?? {}
  return (
    <div className="stack-small">
      <div className="note bad" role="alert">
        {/* The detail of bad rows repeats the first of them. */}
        <p>{problems.length > 0 ? badRows(problemCount, problems.length) : publishWords(detail)}</p>
      </div>
      <RowProblems problems={problems} />
      <FixList
        fixes={fixesOf(
          problems.length > 0 ? problems.map(({ message }) => message) : [detail],
          problemCount,
          rows,
        )}
        onFix={onFix}
      />
      {datasets && (
        <p className="small soft">
          {datasets.some((dataset) => dataset.table === table)
            ? 'Nothing was changed: the current version is still served.'
            : 'Nothing was published.'}
        </p>
      )}
    </div>
  )
}

function badRows(all: number, listed: number): string {
  const rows = `${plural(all, 'row')} of the file cannot be published`
  return all > listed ? `${rows}. The first ${listed}:` : `${rows}:`
}

function RowProblems({ problems }: { problems: RowProblem[] }) {
  if (problems.length === 0) return null
  return (
    <ul className="small">
      {problems.map(({ row, message }) => (
        <li key={`${row} ${message}`}>
          Row {count(row)}: {publishWords(message)}
        </li>
      ))}
    </ul>
  )
}
