import type { Dataset } from '@wayleave/client'
import { Link } from 'react-router'
import { VisibilityBadge } from '../visibility/visibility-badge.tsx'
import { day, plural, shapeName, withoutMarks } from '../words.ts'
import { DatasetPreview } from './dataset-preview.tsx'

const MAX_KEYWORDS = 4

export function DatasetCard({ dataset }: { dataset: Dataset }) {
  const { table, title, description, rows, credits, keywords, updatedAt } = dataset
  return (
    <li className="card dataset-card">
      <DatasetPreview dataset={dataset} />
      <div className="about">
        <h2 dir="auto">
          <Link to={`/datasets/${table}`} title={title}>
            {title}
          </Link>
        </h2>
        <p dir="auto">{withoutMarks(description) || 'No description.'}</p>
        <div className="badges">
          <span className="badge">{shapeName(dataset)}</span>
          <span className="badge">{plural(rows, 'row')}</span>
          {dataset.visibility === 'open' ? null : (
            <span className="badge">{credits === 0 ? 'Free' : plural(credits, 'credit')}</span>
          )}
          <VisibilityBadge visibility={dataset.visibility} />
        </div>
        <div className="small soft">Updated {day(updatedAt)}</div>
        {keywords.length > 0 && (
          <ul className="keywords" aria-label="Keywords">
            {keywords.slice(0, MAX_KEYWORDS).map((keyword) => (
              <li key={keyword}>
                <Link to={`/datasets?keyword=${encodeURIComponent(keyword)}`}>{keyword}</Link>
              </li>
            ))}
          </ul>
        )}
      </div>
    </li>
  )
}
