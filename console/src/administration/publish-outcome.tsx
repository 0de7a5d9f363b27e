import type { JobRecord, PublishReportRecord, RowProblem } from '@wayleave/contract/records'
import { Link } from 'react-router'
import { count, plural, shapeName } from '../words.ts'

const phases: Record<string, string> = {
  reading: 'Reading the file',
  sorting: 'Sorting',
  indexing: 'Building the index',
}

/** The progress and the result of a publishing job. */
export function PublishOutcome({ job }: { job: JobRecord }) {
  if (job.state === 'done' && job.report) return <Report report={job.report} />
  if (job.state === 'failed') return <Failure problem={job.problem} />
  if (job.state === 'cancelled') {
    return (
      <p className="note" role="status">
        The publishing of {job.table} was cancelled. Nothing was changed.
      </p>
    )
  }
  const { progress } = job
  const total = progress?.phase === 'reading' ? (progress.totalBytes ?? undefined) : undefined
  return (
    <div className="stack-small" role="status">
      <p>
        {progress ? (phases[progress.phase] ?? progress.phase) : 'Queued'}
        {progress && progress.rows > 0 && `, ${plural(progress.rows, 'row')}`}
      </p>
      <progress aria-label="Publishing" value={total ? progress?.bytesRead : undefined} max={total} />
    </div>
  )
}

function Report({ report }: { report: PublishReportRecord }) {
  return (
    <div className="stack-small">
      <p className="note good" role="status">
        {report.version === null ? (
          `${report.table} can be published; nothing was changed: `
        ) : (
          <>
            Published <Link to={`/datasets/${report.table}`}>{report.table}</Link>, version {report.version}:{' '}
          </>
        )}
        {plural(report.rows, 'row')} in {report.seconds} s.
      </p>
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
      {report.notes.map((note) => (
        <p key={note} className="note small">
          {note}
        </p>
      ))}
    </div>
  )
}

function Failure({ problem }: { problem: JobRecord['problem'] }) {
  return (
    <div className="stack-small">
      <div className="note bad" role="alert">
        <p>{problem?.detail ?? 'The file could not be published.'}</p>
        {problem?.problemCount !== undefined && (
          <p className="small">
            {plural(problem.problemCount, 'row')} cannot be published. The first of them:
          </p>
        )}
      </div>
      <RowProblems problems={problem?.problems ?? []} />
      <p className="small soft">Nothing was changed: the current version is still served.</p>
    </div>
  )
}

function RowProblems({ problems }: { problems: RowProblem[] }) {
  if (problems.length === 0) return null
  return (
    <ul className="small">
      {problems.map(({ row, message }) => (
        <li key={`${row} ${message}`}>
          Row {count(row)}: {message}
        </li>
      ))}
    </ul>
  )
}
