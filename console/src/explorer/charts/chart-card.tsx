import { Icon } from '../../components/icon.tsx'
import { plural } from '../../words.ts'
import { ColumnName } from '../column-name.tsx'
import type { Column, Facet } from '../filter/facet.ts'
import { BarChart } from './bar-chart.tsx'
import { HistogramChart } from './histogram-chart.tsx'

/** One chart: bars for values, a histogram for numbers, a time series for dates and times. */
export function ChartCard({
  column,
  facet,
  onRemove,
}: {
  column: Column
  facet: Facet | undefined
  onRemove: () => void
}) {
  const { name } = column
  return (
    <figure className="card chart-card" aria-label={`Chart of ${name}`}>
      <figcaption className="row spread">
        <strong>
          <ColumnName column={column} />
        </strong>
        <button
          type="button"
          className="button quiet small"
          onClick={onRemove}
          aria-label={`Remove the chart of ${name}`}
        >
          <Icon name="close" />
        </button>
      </figcaption>
      {facet?.histogram && <HistogramChart column={name} type={facet.type} bins={facet.histogram} />}
      {facet?.values && <BarChart column={name} values={facet.values} others={facet.others ?? 0} />}
      {facet && !facet.values && !facet.histogram && <p className="soft small">No values.</p>}
      {facet && facet.nulls > 0 && <p className="small soft">{plural(facet.nulls, 'row')} without a value</p>}
    </figure>
  )
}
