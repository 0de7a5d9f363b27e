import { useQueryClient } from '@tanstack/react-query'
import type { JobState } from '@wayleave/contract/job-states'
import { isJobEnded, type JobRecord } from '@wayleave/contract/records'
import { useState } from 'react'
import { CancelJobDialog } from '../administration/cancel-job-dialog.tsx'
import { useJobs } from '../api/queries.ts'
import { Empty } from '../components/empty.tsx'
import { Loaded } from '../components/loaded.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { Table } from '../components/table.tsx'
import { useTitle } from '../components/use-title.ts'
import { When } from '../components/when.tsx'
import { plural } from '../words.ts'

const badges: Record<JobState, [style: string, word: string]> = {
  waiting: ['', 'Waiting'],
  running: ['warn', 'Running'],
  done: ['good', 'Done'],
  failed: ['bad', 'Failed'],
  cancelled: ['', 'Cancelled'],
}

/** Uploads on their way to a version. */
export function JobsPage() {
  useTitle('Jobs')
  const queries = useQueryClient()
  const jobs = useJobs()
  const [cancelling, setCancelling] = useState<JobRecord | null>(null)
  return (
    <section className="card flush">
      <div className="card-head">
        <h2>Jobs</h2>
      </div>
      <Loaded query={jobs} lines={6}>
        {({ pages }) => {
          const rows = pages.flatMap(({ data }) => data)
          if (rows.length === 0) return <Empty title="Nothing was uploaded yet" />
          return (
            <>
              <Table
                label="Jobs"
                rows={rows}
                keyOf={({ id }) => id}
                columns={[
                  {
                    head: 'Table',
                    cell: ({ table, id }) => (
                      <>
                        {table}
                        <div className="small soft mono nowrap">{id}</div>
                      </>
                    ),
                  },
                  {
                    head: 'State',
                    cell: ({ state }) => (
                      <span className={`badge ${badges[state][0]}`}>{badges[state][1]}</span>
                    ),
                  },
                  { head: 'Note', kind: 'long', cell: noteOf },
                  { head: 'Uploaded', cell: ({ createdAt }) => <When at={createdAt} /> },
                  {
                    head: 'Actions',
                    kind: 'actions',
                    cell: (job) =>
                      !isJobEnded(job.state) && (
                        <button
                          type="button"
                          className="button quiet small"
                          aria-label={`Cancel the job of ${job.table}`}
                          onClick={() => setCancelling(job)}
                        >
                          Cancel
                        </button>
                      ),
                  },
                ]}
              />
              <MoreButton query={jobs} />
            </>
          )
        }}
      </Loaded>
      {cancelling && (
        <CancelJobDialog
          job={cancelling}
          onCancelled={() => queries.invalidateQueries({ queryKey: ['jobs'] })}
          onClose={() => setCancelling(null)}
        />
      )}
    </section>
  )
}

function noteOf({ state, report, problem, progress }: JobRecord): string {
  if (state === 'failed') return problem?.detail ?? ''
  if (report)
    return report.version === null
      ? 'Checked only'
      : `Version ${report.version}, ${plural(report.rows, 'row')}`
  return progress ? `${progress.phase}, ${plural(progress.rows, 'row')}` : ''
}
