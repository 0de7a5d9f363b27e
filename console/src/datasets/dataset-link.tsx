import { Link } from 'react-router'
import { useDatasets } from '../api/queries.ts'

/** A dataset by its title, as a link; its table if it is not in the catalog any more. */
export function DatasetLink({ table }: { table: string }) {
  const dataset = useDatasets().data?.find((one) => one.table === table)
  if (!dataset) return <code>{table}</code>
  return (
    <Link to={`/datasets/${table}`} title={table}>
      {dataset.title}
    </Link>
  )
}
