import type { SourceRunRecord } from '@wayleave/contract/records'
import { Loaded } from '../components/page/loaded.tsx'
import { Table } from '../components/table.tsx'
import { Moment } from '../components/when.tsx'
import { durationWords, outcomeWords } from './source-words.ts'
import { useSourceRuns } from './use-source.ts'

const BADGES: Record<SourceRunRecord['outcome'], [className: string, text: string]> = {
  published: ['badge good', 'Published'],
  unchanged: ['badge', 'Unchanged'],
  failed: ['badge bad', 'Failed'],
}

export function SourceHistory({ table }: { table: string }) {
  const runs = useSourceRuns(table)
  return (
    <div className="card flush">
      <Loaded query={runs} lines={3}>
        {(rows) =>
          rows.length === 0 ? (
            <p className="padded small soft">It has not run yet.</p>
          ) : (
            <Table
              label="Runs of the source"
              rows={rows}
              keyOf={({ id }) => id}
              columns={[
                { head: 'Started', cell: Started },
                { head: 'Outcome', cell: Outcome },
                { head: 'Details', kind: 'long', cell: (run) => outcomeWords(run) },
                { head: 'Took', kind: 'number', cell: (run) => durationWords(run) },
              ]}
            />
          )
        }
      </Loaded>
    </div>
  )
}

function Started({ startedAt, isManual }: SourceRunRecord) {
  return (
    <>
      <Moment at={startedAt} />
      <div className="small soft">{isManual ? 'started by hand' : 'on schedule'}</div>
    </>
  )
}

function Outcome({ outcome }: SourceRunRecord) {
  const [className, text] = BADGES[outcome]
  return <span className={className}>{text}</span>
}
