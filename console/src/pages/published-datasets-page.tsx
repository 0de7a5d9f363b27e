import { useQueryClient } from '@tanstack/react-query'
import type { Dataset } from '@wayleave/client'
import { useState } from 'react'
import { Link } from 'react-router'
import { DescribeDialog } from '../administration/describe-dialog.tsx'
import { call } from '../api/call.ts'
import { useDatasets } from '../api/queries.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { Empty } from '../components/empty.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Scroll } from '../components/scroll.tsx'
import { useTitle } from '../components/use-title.ts'
import { Day } from '../components/when.tsx'
import { count, plural, shapeName } from '../words.ts'

type Open = { kind: 'describe' | 'remove'; dataset: Dataset }

export function PublishedDatasetsPage() {
  useTitle('Published datasets')
  const datasets = useDatasets()
  const queries = useQueryClient()
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
            <Empty title="No dataset is published yet" />
          ) : (
            <Datasets rows={rows} onOpen={(kind, dataset) => setOpen({ kind, dataset })} />
          )
        }
      </Loaded>
      {open?.kind === 'describe' && <DescribeDialog dataset={open.dataset} onClose={close} />}
      {open?.kind === 'remove' && (
        <ConfirmDialog
          title={`Remove ${open.dataset.table}?`}
          action="Remove the dataset"
          danger
          onClose={close}
          onConfirm={async () => {
            await call('DELETE', `/v1/dataset/${open.dataset.table}`)
            await queries.invalidateQueries({ queryKey: ['datasets'] })
          }}
        >
          <p>
            “{open.dataset.title}” and all of its versions ({plural(open.dataset.version, 'publishing')} so
            far) are removed at once. Programs that read it get 404. This cannot be undone.
          </p>
        </ConfirmDialog>
      )}
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
    <Scroll label="Datasets">
      <table>
        <thead>
          <tr>
            <th scope="col">Table</th>
            <th scope="col">Title</th>
            <th scope="col">Holds</th>
            <th scope="col" className="number">
              Rows
            </th>
            <th scope="col" className="number">
              Credits
            </th>
            <th scope="col" className="number">
              Version
            </th>
            <th scope="col">Updated</th>
            <th scope="col">
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((dataset) => (
            <tr key={dataset.table}>
              <th scope="row">
                <Link to={`/datasets/${dataset.table}`}>{dataset.table}</Link>
              </th>
              <td>{dataset.title}</td>
              <td>{shapeName(dataset.geometryType)}</td>
              <td className="number">{count(dataset.rows)}</td>
              <td className="number">{count(dataset.credits)}</td>
              <td className="number">{dataset.version}</td>
              <td>
                <Day at={dataset.updatedAt} />
              </td>
              <td className="actions">
                <button
                  type="button"
                  className="button quiet small"
                  aria-label={`Describe ${dataset.table}`}
                  onClick={() => onOpen('describe', dataset)}
                >
                  Describe
                </button>
                <button
                  type="button"
                  className="button quiet small"
                  aria-label={`Remove ${dataset.table}`}
                  onClick={() => onOpen('remove', dataset)}
                >
                  Remove
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}
