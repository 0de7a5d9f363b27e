import type { Dataset } from '@wayleave/client'
import { Link } from 'react-router'
import { plural, shapeName } from '../words.ts'
import { DatasetPreview } from './dataset-preview.tsx'

export function DatasetCard({ dataset }: { dataset: Dataset }) {
  const { table, title, description, rows, credits } = dataset
  return (
    <li className="card dataset-card">
      <DatasetPreview dataset={dataset} />
      <div className="about">
        <h2 dir="auto">
          <Link to={`/datasets/${table}`}>{title}</Link>
        </h2>
        <p dir="auto">{description || 'No description.'}</p>
        <div className="badges">
          <span className="badge">{shapeName(dataset)}</span>
          <span className="badge">{plural(rows, 'row')}</span>
          <span className="badge">{credits === 0 ? 'Free' : plural(credits, 'credit')}</span>
        </div>
      </div>
    </li>
  )
}
