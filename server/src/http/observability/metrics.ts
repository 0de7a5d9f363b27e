import { collectDefaultMetrics, type Metric, Registry } from 'prom-client'
import type { MaybePromise } from '../../base/maybe-promise.ts'
import { DURATION_BOUNDS, type Durations } from './durations.ts'
import { type MetricName, type MetricRow, metricTable } from './metric-table.ts'
import { RefusalCounts } from './refusal-counts.ts'
import { type MetricValue, RequestMetrics } from './request-metrics.ts'

type Labelled = Readonly<Record<string, number>>
type MetricResult = number | Labelled | Readonly<Record<string, Labelled>> | Durations

/** A number, numbers by the values of the metric's one or two labels, or the durations of a histogram. */
export type MetricReader = () => MaybePromise<MetricResult>

/**
 * The metrics exposed to Prometheus. The parts keep plain counters of their own, which are read on each
 * scrape. Labels are route patterns, never the requested URLs.
 */
export class Metrics {
  readonly registry = new Registry()
  readonly requests = new RequestMetrics((...row) => this.#register(...row))
  readonly refusals = new RefusalCounts()

  constructor() {
    for (const metric of processMetrics()) this.registry.registerMetric(metric)
  }

  /** Registers a metric of the table. */
  read(name: MetricName, reader: MetricReader): void {
    const row: MetricRow = metricTable[name]
    this.#register(row.type, name, row.help, async () => valuesOf(name, row, await reader()))
  }

  /** These properties are all that a prom-client registry needs of a metric. */
  #register(type: string, name: string, help: string, values: () => MaybePromise<MetricValue[]>): void {
    const get = async () => ({ name, help, type, aggregator: 'sum', values: await values() })
    this.registry.registerMetric({ name, get, reset: () => {} } as unknown as Metric)
  }
}

let ofProcess: Metric[] | undefined

/**
 * The metrics of the process. They are collected once, because prom-client never stops the observer and the timers
 * of a collection: those of every server that was opened before would go on, and keep it in memory.
 */
function processMetrics(): Metric[] {
  ofProcess ??= collectedMetrics()
  return ofProcess
}

function collectedMetrics(): Metric[] {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'wayleave_' })
  // The type of the package describes what its method for JSON returns; these are the metrics themselves.
  return registry.getMetricsAsArray() as unknown as Metric[]
}

function valuesOf(name: string, { label }: MetricRow, value: MetricResult): MetricValue[] {
  if (typeof value === 'number') return [{ labels: {}, value }]
  if (typeof label === 'string') return labelled(value as Labelled, label)
  if (label !== undefined) {
    const [outer, inner] = label
    return Object.entries(value as Record<string, Labelled>).flatMap(([key, counts]) =>
      labelled(counts, inner).map(({ labels, value: count }) => ({
        labels: { [outer]: key, ...labels },
        value: count,
      })),
    )
  }
  return histogramValues(name, value as Durations)
}

function labelled(counts: Labelled, label: string): MetricValue[] {
  return Object.entries(counts).map(([key, count]) => ({ labels: { [label]: key }, value: count }))
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
