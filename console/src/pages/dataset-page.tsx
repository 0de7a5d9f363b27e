import type { DatasetDetails } from '@wayleave/contract/records'
import { Link, useParams } from 'react-router'
import { useDataset, useSession } from '../api/queries.ts'
import { Loaded } from '../components/page/loaded.tsx'
import { SignInLink } from '../components/page/sign-in-link.tsx'
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
      <Loaded
        query={dataset}
        lines={2}
        height="14rem"
        heading={table}
        missing={<MissingDataset table={table} />}
      >
        {(data) => <DatasetDetail key={data.table} dataset={data} />}
      </Loaded>
    </div>
  )
}

/** A private dataset looks like one that never was. */
function MissingDataset({ table }: { table: string }) {
  const isSignedOut = useSession() === 'signed-out'
  return (
    <div className="empty" role="alert">
      <h1>There is no dataset named “{table}”</h1>
      <p>
        It may have another name now, or be only for some organizations.
        {isSignedOut && ' Sign in to see what yours may read.'}
      </p>
      <div className="row">
        <Link className="button primary" to={`/datasets?${new URLSearchParams({ q: table })}`}>
          Search for it
        </Link>
        {isSignedOut && <SignInLink className="button">Sign in</SignInLink>}
        <Link className="button" to="/datasets">
          See all datasets
        </Link>
      </div>
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
