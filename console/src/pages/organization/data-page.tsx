import type { DatasetRecord } from '@wayleave/contract/records'
import { useState } from 'react'
import { Link } from 'react-router'
import { EditDatasetDialog } from '../../administration/edit-dataset-dialog.tsx'
import { useOrganization, useOwnDatasets, usePublishedUsage } from '../../api/queries.ts'
import { RowMenu } from '../../components/form/row-menu.tsx'
import { ListCard } from '../../components/list-card.tsx'
import { useTitle } from '../../components/page/use-title.ts'
import { RemoveDatasetDialog } from '../../datasets/remove-dataset-dialog.tsx'
import { SharingDialog } from '../../visibility/sharing-dialog.tsx'
import { VISIBILITY_WORDS } from '../../visibility/visibility-words.ts'
import { count, plural } from '../../words.ts'

type Open = { kind: 'edit' | 'share' | 'remove'; dataset: DatasetRecord }

/** The datasets that the organization publishes: who sees them, how much they are used, and what they earn. */
export function DataPage() {
  useTitle('Data')
  const organization = useOrganization()!
  const datasets = useOwnDatasets(organization.id)
  const usage = usePublishedUsage(organization.id).data
  const [open, setOpen] = useState<Open | null>(null)
  const close = () => setOpen(null)
  const usageOf = (table: string) => usage?.datasets.find((row) => row.table === table)
  return (
    <ListCard
      label="Your datasets"
      head={
        <>
          <div>
            <h2>Your datasets</h2>
            {usage && (
              <p className="small soft">
                In the last 30 days: {plural(usage.totals.calls, 'call')},{' '}
                {plural(usage.totals.credits, 'credit')} earned.
              </p>
            )}
          </div>
          <Link className="button primary" to="/organization/publish">
            Publish a file
          </Link>
        </>
      }
      query={datasets}
      keyOf={({ table }) => table}
      empty={{
        title: 'Nothing is published yet',
        text: 'A file becomes a dataset with a map, a table and downloads.',
      }}
      columns={[
        {
          head: 'Dataset',
          kind: 'line',
          cell: ({ table, title }) => (
            <Link to={`/datasets/${table}`} title={title}>
              {title}
            </Link>
          ),
        },
        { head: 'Who sees it', cell: ({ visibility }) => VISIBILITY_WORDS[visibility].name },
        { head: 'Rows', kind: 'number', cell: ({ rows }) => count(rows) },
        {
          head: 'Price',
          kind: 'number',
          cell: ({ credits }) => (credits === 0 ? 'Free' : plural(credits, 'credit')),
        },
        { head: 'Calls', kind: 'number', cell: ({ table }) => count(usageOf(table)?.calls ?? 0) },
        {
          head: 'Earned',
          kind: 'number',
          cell: ({ table }) => plural(usageOf(table)?.credits ?? 0, 'credit'),
        },
        {
          head: 'Actions',
          kind: 'menu',
          cell: (dataset) => (
            <RowMenu
              of={dataset.table}
              actions={[
                { label: 'Edit', onChoose: () => setOpen({ kind: 'edit', dataset }) },
                { label: 'Share', onChoose: () => setOpen({ kind: 'share', dataset }) },
                { label: 'Remove', isDanger: true, onChoose: () => setOpen({ kind: 'remove', dataset }) },
              ]}
            />
          ),
        },
      ]}
    >
      {open?.kind === 'edit' && <EditDatasetDialog dataset={open.dataset} onClose={close} />}
      {open?.kind === 'share' && <SharingDialog dataset={open.dataset} onClose={close} />}
      {open?.kind === 'remove' && <RemoveDatasetDialog dataset={open.dataset} onClose={close} />}
    </ListCard>
  )
}
