import type { Dataset } from '@wayleave/client'
import { lazy, Suspense, useState } from 'react'
import { Link, useParams } from 'react-router'
import { useDataset } from '../api/queries.ts'
import { Loaded } from '../components/loaded.tsx'
import { Tabs } from '../components/tabs.tsx'
import { useTitle } from '../components/use-title.ts'
import { Day } from '../components/when.tsx'
import { ColumnTable } from '../datasets/column-table.tsx'
import { Downloads } from '../datasets/downloads.tsx'
import { SampleTable } from '../datasets/sample-table.tsx'
import { Snippets } from '../datasets/snippets.tsx'
import { Versions } from '../datasets/versions.tsx'
import { count, period, plural, shapeName } from '../words.ts'

const DatasetMap = lazy(async () => ({ default: (await import('../map/dataset-map.tsx')).DatasetMap }))

const parts = { code: 'Use it', sample: 'Sample', columns: 'Columns', versions: 'Versions' }
type Part = keyof typeof parts

export function DatasetPage() {
  const { table = '' } = useParams()
  const dataset = useDataset(table)
  useTitle(dataset.data?.title ?? table)
  return (
    <div className="stack">
      <p className="small">
        <Link to="/datasets">All datasets</Link>
      </p>
      <Loaded query={dataset} lines={2} height="14rem">
        {(data) => <DatasetDetail key={data.table} dataset={data} />}
      </Loaded>
    </div>
  )
}

function DatasetDetail({ dataset }: { dataset: Dataset }) {
  const [part, setPart] = useState<Part>(dataset.bbox ? 'code' : 'sample')
  return (
    <>
      <div className="page-head">
        <div>
          <h1 dir="auto">{dataset.title}</h1>
          <p dir="auto">{dataset.description}</p>
        </div>
      </div>
      <div className="columns">
        <div className="stack">
          {dataset.bbox && (
            <Suspense fallback={<div className="map" />}>
              <DatasetMap dataset={dataset} />
            </Suspense>
          )}
          <Tabs label="About the dataset" tabs={parts} chosen={part} onChoose={setPart}>
            {part === 'code' && <Snippets dataset={dataset} />}
            {part === 'sample' && <SampleTable dataset={dataset} />}
            {part === 'columns' && <ColumnTable columns={dataset.columns} />}
            {part === 'versions' && <Versions dataset={dataset} />}
          </Tabs>
        </div>
        <div className="stack">
          <section className="card stack-small" aria-label="Facts">
            <dl className="facts">
              <dt>Table</dt>
              <dd>
                <code>{dataset.table}</code>
              </dd>
              <dt>Holds</dt>
              <dd>
                {shapeName(dataset)}, {plural(dataset.rows, 'row')}
              </dd>
              {dataset.timeExtent && (
                <>
                  <dt>Time</dt>
                  <dd>{period(dataset.timeExtent)}</dd>
                </>
              )}
              <dt>Price</dt>
              <dd>{dataset.credits === 0 ? 'Free' : `${plural(dataset.credits, 'credit')} a download`}</dd>
              <dt>Version</dt>
              <dd>
                {count(dataset.version)}, <Day at={dataset.updatedAt} />
              </dd>
              <dt>License</dt>
              <dd>{dataset.license || 'Not stated'}</dd>
              {dataset.attribution && (
                <>
                  <dt>Source</dt>
                  <dd>{dataset.attribution}</dd>
                </>
              )}
            </dl>
            {dataset.keywords.length > 0 && (
              <div className="badges">
                {dataset.keywords.map((word) => (
                  <span key={word} className="badge">
                    {word}
                  </span>
                ))}
              </div>
            )}
          </section>
          <Downloads dataset={dataset} />
        </div>
      </div>
    </>
  )
}
