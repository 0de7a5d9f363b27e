import type { DatasetDetails } from '@wayleave/contract/records'
import { Link, useParams } from 'react-router'
import { useDataset } from '../api/queries.ts'
import { Loaded } from '../components/page/loaded.tsx'
import { useTitle } from '../components/page/use-title.ts'
import { DatasetActions } from '../datasets/dataset-actions.tsx'
import { DatasetDescription } from '../datasets/dataset-description.tsx'
import { DatasetFacts } from '../datasets/dataset-facts.tsx'
import { DatasetTerms } from '../datasets/dataset-terms.tsx'
import { Explorer } from '../explorer/explorer.tsx'
import { VisibilityControl } from '../visibility/visibility-control.tsx'

export function DatasetPage() {
  const { table = '' } = useParams()
  const dataset = useDataset(table)
  useTitle(dataset.data?.title ?? table)
  return (
    <div className="stack wide">
      <p className="small">
        <Link to="/datasets">All datasets</Link>
      </p>
      <Loaded query={dataset} lines={2} height="14rem" heading={table}>
        {(data) => <DatasetDetail key={data.table} dataset={data} />}
      </Loaded>
    </div>
  )
}

function DatasetDetail({ dataset }: { dataset: DatasetDetails }) {
  return (
    <>
      <div className="page-head">
        <div>
          <h1 dir="auto">{dataset.title}</h1>
          <DatasetDescription text={dataset.description} />
          <DatasetTerms dataset={dataset} />
        </div>
        <div className="row">
          <DatasetActions dataset={dataset} />
          <VisibilityControl dataset={dataset} />
        </div>
      </div>
      <Explorer dataset={dataset} facts={<DatasetFacts dataset={dataset} />} />
    </>
  )
}
