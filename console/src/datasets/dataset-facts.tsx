import type { DatasetDetails } from '@wayleave/contract/records'
import { Day } from '../components/when.tsx'
import { count, period, plural, shapeName } from '../words.ts'

/** What a reader wants to know about a dataset before they use it. */
export function DatasetFacts({ dataset }: { dataset: DatasetDetails }) {
  return (
    <section className="card dataset-facts" aria-label="Facts">
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
  )
}
