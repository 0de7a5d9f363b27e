import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { SourceRecord } from '@wayleave/contract/records'
import { useState } from 'react'
import { publishWords } from '../administration/publish-words.ts'
import { call } from '../api/call.ts'
import { Loaded } from '../components/page/loaded.tsx'
import { ProblemNote } from '../components/page/problem-note.tsx'
import { When } from '../components/when.tsx'
import { SourceForm } from './source-form.tsx'
import { SourceHistory } from './source-history.tsx'
import { kindName, scheduleWords } from './source-words.ts'
import { useRunSource, useSource } from './use-source.ts'

/** For publishers: where the dataset is refreshed from, and what came of it. */
export function SourcePanel({ table }: { table: string }) {
  const source = useSource(table)
  const [isEditing, setIsEditing] = useState(false)
  return (
    <section className="stack" aria-labelledby="source">
      <h2 id="source">Source</h2>
      <Loaded query={source} lines={2}>
        {(record) =>
          isEditing ? (
            <SourceForm
              table={table}
              source={record}
              onSaved={() => setIsEditing(false)}
              onClose={() => setIsEditing(false)}
            />
          ) : record === null ? (
            <>
              <p className="soft">
                The service can refresh this dataset by itself: from a file on the web, a bucket, a database,
                or another service.
              </p>
              <div>
                <button type="button" className="button" onClick={() => setIsEditing(true)}>
                  Set a source
                </button>
              </div>
            </>
          ) : (
            <>
              <SourceFacts source={record} />
              <SourceActions source={record} onEdit={() => setIsEditing(true)} />
              <SourceHistory table={table} />
            </>
          )
        }
      </Loaded>
    </section>
  )
}

function SourceFacts({ source }: { source: SourceRecord }) {
  const { kind, address, every, nextRunAt, failures, hasCredentials } = source
  return (
    <dl className="facts">
      <dt>{kindName(kind)}</dt>
      <dd className="long">
        {address} {hasCredentials && <span className="badge">With credentials</span>}
      </dd>
      <dt>Read</dt>
      <dd>{scheduleWords(every)}</dd>
      <dt>Next</dt>
      <dd>
        <When at={nextRunAt} never="When you run it" />{' '}
        {failures > 0 && (
          <span className="badge bad">Failed {failures === 1 ? 'once' : `${failures} times`}</span>
        )}
      </dd>
    </dl>
  )
}

function SourceActions({ source: { table }, onEdit }: { source: SourceRecord; onEdit: () => void }) {
  const queries = useQueryClient()
  const run = useRunSource(table)
  const remove = useMutation({
    mutationFn: () => call('DELETE', `/v1/dataset/${table}/source`),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['source', table] }),
  })
  const problem = run.data?.state === 'failed' ? run.data.problem?.detail : undefined
  return (
    <div className="stack-small">
      <div className="row">
        <button
          type="button"
          className="button primary"
          disabled={run.isPending}
          onClick={() => run.mutate()}
        >
          {run.isPending ? 'Running…' : 'Run now'}
        </button>
        <button type="button" className="button" onClick={onEdit}>
          Change
        </button>
        <button
          type="button"
          className="button quiet"
          disabled={remove.isPending}
          onClick={() => remove.mutate()}
        >
          Remove
        </button>
      </div>
      <p className="small" role="status">
        {run.data?.state === 'done' &&
          (run.data.report ? `Published version ${run.data.report.version}.` : 'Nothing has changed.')}
        {problem && <span className="wrong">{publishWords(problem)}</span>}
      </p>
      {run.isError && <ProblemNote error={run.error} />}
      {remove.isError && <ProblemNote error={remove.error} />}
    </div>
  )
}
