import { useQueryClient } from '@tanstack/react-query'
import { isJobEnded, type JobState } from '@wayleave/contract/job-states'
import type { JobRecord } from '@wayleave/contract/records'
import { useState } from 'react'
import { Link } from 'react-router'
import { CancelJobDialog } from '../../administration/cancel-job-dialog.tsx'
import { publishWords } from '../../administration/publish-words.ts'
import { useJobs } from '../../api/queries.ts'
import { RowMenu } from '../../components/form/row-menu.tsx'
import { ListCard } from '../../components/list-card.tsx'
import { useTitle } from '../../components/page/use-title.ts'
import { When } from '../../components/when.tsx'
import { DatasetLink } from '../../datasets/dataset-link.tsx'
import { plural } from '../../words.ts'

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
  const [cancelling, setCancelling] = useState<JobRecord | null>(null)
  return (
    <ListCard
      label="Jobs"
      query={useJobs()}
      keyOf={({ id }) => id}
      empty={{
        title: 'No uploads yet',
        text: (
          <p>
            Every file that is published appears here while it is read, and if it is refused.{' '}
            <Link to="/administration/publish">Publish a file</Link>
          </p>
        ),
      }}
      columns={[
        {
          head: 'Dataset',
          kind: 'line',
          cell: ({ table }) => <DatasetLink table={table} />,
        },
        {
          head: 'State',
          cell: ({ state }) => <span className={`badge ${badges[state][0]}`}>{badges[state][1]}</span>,
        },
        { head: 'Note', kind: 'line', cell: (job) => <span title={noteOf(job)}>{noteOf(job)}</span> },
        { head: 'Uploaded', cell: ({ createdAt }) => <When at={createdAt} /> },
        {
          head: 'Actions',
          kind: 'menu',
          cell: (job) => (
            <RowMenu
              of={`the job of ${job.table}`}
              actions={[
                !isJobEnded(job.state) && {
                  label: 'Cancel',
                  isDanger: true,
                  onChoose: () => setCancelling(job),
                },
              ]}
              id={job.id}
            />
          ),
        },
      ]}
    >
      {cancelling && (
        <CancelJobDialog
          job={cancelling}
          onCancelled={() => queries.invalidateQueries({ queryKey: ['jobs'] })}
          onClose={() => setCancelling(null)}
        />
      )}
    </ListCard>
  )
}

function noteOf({ state, report, problem, progress }: JobRecord): string {
  if (state === 'failed') return publishWords(problem?.detail ?? '')
  if (report?.version === null) return 'Checked only'
  if (report) {
    const version = `Version ${report.version}, ${plural(report.rows, 'row')}`
    return report.isDraft ? `${version}, as a draft` : version
  }
  return progress ? `${progress.phase}, ${plural(progress.rows, 'row')}` : ''
}
