import type { Dataset } from '@wayleave/client'
import { useState } from 'react'
import { Link } from 'react-router'
import { EditDatasetDialog } from '../../administration/edit-dataset-dialog.tsx'
import { useDatasets } from '../../api/queries.ts'
import { RowMenu } from '../../components/form/row-menu.tsx'
import { Empty } from '../../components/page/empty.tsx'
import { Loaded } from '../../components/page/loaded.tsx'
import { useTitle } from '../../components/page/use-title.ts'
import { Table } from '../../components/table.tsx'
import { Day } from '../../components/when.tsx'
import { RemoveDatasetDialog } from '../../datasets/remove-dataset-dialog.tsx'
import { SharingDialog } from '../../visibility/sharing-dialog.tsx'
import { VISIBILITY_WORDS } from '../../visibility/visibility-words.ts'
import { count, shapeName } from '../../words.ts'

type Open = { kind: 'edit' | 'share' | 'remove'; dataset: Dataset }

export function PublishedDatasetsPage() {
  useTitle('Published datasets')
  const datasets = useDatasets()
  const [open, setOpen] = useState<Open | null>(null)
  const close = () => setOpen(null)
  return (
    <section className="card flush">
      <div className="card-head">
        <h2>Datasets</h2>
        <Link className="button primary" to="/administration/publish">
          Publish a file
        </Link>
      </div>
      <Loaded query={datasets} lines={5}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="No dataset is published yet">
              <p>A file becomes a dataset with a map, a table, charts and downloads.</p>
            </Empty>
          ) : (
            <Datasets rows={rows} onOpen={(kind, dataset) => setOpen({ kind, dataset })} />
          )
        }
      </Loaded>
      {open?.kind === 'edit' && <EditDatasetDialog dataset={open.dataset} onClose={close} />}
      {open?.kind === 'remove' && <RemoveDatasetDialog dataset={open.dataset} onClose={close} />}
      {open?.kind === 'share' && <SharingDialog dataset={open.dataset} onClose={close} />}
    </section>
  )
}

function Datasets({
  rows,
  onOpen,
}: {
  rows: Dataset[]
  onOpen: (kind: Open['kind'], dataset: Dataset) => void
}) {
  return (
    <Table
      label="Datasets"
      rows={rows}
      keyOf={({ table }) => table}
      columns={[
        {
          head: 'Dataset',
          kind: 'line',
          cell: ({ table, title }) => (
            <span title={`${title} (${table})`}>
              <Link to={`/datasets/${table}`}>{title}</Link> <code className="soft">{table}</code>
            </span>
          ),
        },
        { head: 'Kind', cell: shapeName },
        { head: 'Who sees it', cell: ({ visibility }) => VISIBILITY_WORDS[visibility].name },
        { head: 'Rows', kind: 'number', cell: ({ rows }) => count(rows) },
        { head: 'Credits', kind: 'number', cell: ({ credits }) => count(credits) },
        { head: 'Version', kind: 'number', cell: ({ version }) => version },
        { head: 'Updated', cell: ({ updatedAt }) => <Day at={updatedAt} /> },
        {
          head: 'Actions',
          kind: 'menu',
          cell: (dataset) => (
            <RowMenu
              of={dataset.table}
              actions={[
                { label: 'Edit', onChoose: () => onOpen('edit', dataset) },
                { label: 'Share', onChoose: () => onOpen('share', dataset) },
                { label: 'Remove', isDanger: true, onChoose: () => onOpen('remove', dataset) },
              ]}
            />
          ),
        },
      ]}
    />
  )
}
