import { collectDefaultMetrics, type Metric, Registry } from 'prom-client'
import { DURATION_BOUNDS, type Durations } from './durations.ts'
import { type MetricName, type MetricRow, metricTable } from './metric-table.ts'
import { type MetricValue, RequestMetrics } from './request-metrics.ts'

/** A number, numbers by the value of the metric's label, or the durations of a histogram. */
export type MetricReader = () => number | Readonly<Record<string, number>> | Durations

/**
 * The metrics exposed to Prometheus. The parts keep plain counters of their own, which are read on each
 * scrape. Labels are route patterns, never the requested URLs.
 */
export class Metrics {
  readonly registry = new Registry()
  readonly requests = new RequestMetrics((...row) => this.#register(...row))
  constructor() {
    collectDefaultMetrics({ register: this.registry, prefix: 'wayleave_' })
  }

  /** Registers a metric of the table. */
  read(name: MetricName, reader: MetricReader): void {
    const row: MetricRow = metricTable[name]
    this.#register(row.type, name, row.help, () => valuesOf(name, row, reader()))
  }

  /** These properties are all that a prom-client registry needs of a metric. */
  #register(type: string, name: string, help: string, values: () => MetricValue[]): void {
    const get = async () => ({ name, help, type, aggregator: 'sum', values: values() })
    this.registry.registerMetric({ name, get, reset: () => {} } as unknown as Metric)
  }
}

function valuesOf(name: string, { label }: MetricRow, value: ReturnType<MetricReader>): MetricValue[] {
  if (typeof value === 'number') return [{ labels: {}, value }]
  if (label !== undefined) {
    return Object.entries(value).map(([key, count]) => ({ labels: { [label]: key }, value: count as number }))
  }
  return histogramValues(name, value as Durations)
}

function histogramValues(name: string, { counts, seconds }: Durations): MetricValue[] {
  let total = 0
  const buckets = counts.map((count, index) => {
    total += count
    return { metricName: `${name}_bucket`, labels: { le: DURATION_BOUNDS[index] ?? '+Inf' }, value: total }
  })
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels: {}, value: seconds },
    { metricName: `${name}_count`, labels: {}, value: total },
  ]
}
