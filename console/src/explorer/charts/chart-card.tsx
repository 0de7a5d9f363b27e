import { Icon } from '../../components/icon.tsx'
import { plural } from '../../words.ts'
import type { Facet } from '../filter/facet.ts'
import { BarChart } from './bar-chart.tsx'
import { HistogramChart } from './histogram-chart.tsx'

/** One chart: bars for values, a histogram for numbers, a time series for dates and times. */
export function ChartCard({
  column,
  facet,
  onRemove,
}: {
  column: string
  facet: Facet | undefined
  onRemove: () => void
}) {
  return (
    <figure className="card chart-card" aria-label={`Chart of ${column}`}>
      <figcaption className="row spread">
        <strong dir="auto">{column}</strong>
        <button
          type="button"
          className="button quiet small"
          onClick={onRemove}
          aria-label={`Remove the chart of ${column}`}
        >
          <Icon name="close" />
        </button>
      </figcaption>
      {facet?.histogram && <HistogramChart column={column} type={facet.type} bins={facet.histogram} />}
      {facet?.values && <BarChart column={column} values={facet.values} others={facet.others ?? 0} />}
      {facet && !facet.values && !facet.histogram && <p className="soft small">No values.</p>}
      {facet && facet.nulls > 0 && <p className="small soft">{plural(facet.nulls, 'row')} without a value</p>}
    </figure>
  )
}
