import { AggregatorRegistry, collectDefaultMetrics, type Metric, Registry } from 'prom-client'
import type { MaybePromise } from '../../base/maybe-promise.ts'
import { DURATION_BOUNDS, type Durations } from './durations.ts'
import { type MetricName, type MetricRow, metricTable } from './metric-table.ts'
import { RefusalCounts } from './refusal-counts.ts'
import { type MetricValue, REQUESTS_TOTAL, RequestMetrics } from './request-metrics.ts'

type Labelled = Readonly<Record<string, number>>
type MetricResult = number | Labelled | Readonly<Record<string, Labelled>> | Durations

/** A number, numbers by the values of the metric's one or two labels, or the durations of a histogram. */
export type MetricReader = () => MaybePromise<MetricResult>

/** The metrics of one thread, as objects that can be sent to another. */
export type ThreadMetrics = object[]

/** The metrics of a whole process. */
export interface ProcessMetrics {
  /** In the text format of Prometheus. */
  text(): Promise<string>
  /** The responses by method, route and status. */
  responses(): Promise<MetricValue[]>
}

/**
 * The metrics exposed to Prometheus. The parts keep plain counters of their own, which are read on each
 * scrape. Labels are route patterns, never the requested URLs. With several serving threads, those of all threads
 * become one by the rule in the table.
 */
export class Metrics implements ProcessMetrics {
  readonly #registry = new Registry()
  readonly #isFirst: boolean
  /** The metrics of the other threads; set in the first. */
  others: () => Promise<ThreadMetrics[]> = async () => []
  /** Null in the first thread, which collects. */
  collector: ProcessMetrics | null = null
  readonly requests = new RequestMetrics((...row) => this.#register(...row))
  readonly refusals = new RefusalCounts()

  constructor(isFirst = true) {
    this.#isFirst = isFirst
    // From the start on: some of them are measured between two scrapes.
    if (isFirst) processMetrics()
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  /** Registers a metric of the table. */
  read(name: MetricName, reader: MetricReader): void {
    const row: MetricRow = metricTable[name]
    if (row.over === 'first' && !this.#isFirst) return
    this.#register(row.type, name, row.help, async () => valuesOf(name, row, await reader()), row.over)
  }

  /** The metrics of this thread alone. */
  own(): Promise<ThreadMetrics> {
    return this.#registry.getMetricsAsJSON()
  }

  async text(): Promise<string> {
    if (this.collector) return this.collector.text()
    const ofThreads = await this.#ofThreads()
    return `${await processMetrics().metrics()}${await ofThreads.metrics()}`
  }

  async responses(): Promise<MetricValue[]> {
    if (this.collector) return this.collector.responses()
    const metric = (await this.#ofThreads()).getSingleMetric(REQUESTS_TOTAL)
    return ((await metric?.get())?.values ?? []) as MetricValue[]
  }

  async #ofThreads(): Promise<Registry> {
    const others = await this.others()
    return others.length === 0 ? this.#registry : AggregatorRegistry.aggregate([await this.own(), ...others])
  }

  /** These properties are all that a prom-client registry needs of a metric. */
  #register(
    type: string,
    name: string,
    help: string,
    values: () => MaybePromise<MetricValue[]>,
    aggregator: MetricRow['over'] | 'sum' = 'sum',
  ): void {
    const get = async () => ({ name, help, type, aggregator, values: await values() })
    this.#registry.registerMetric({ name, get, reset: () => {} } as unknown as Metric)
  }
}

let ofProcess: Registry | undefined

/**
 * What Node tells about the process. It is collected once, because prom-client never stops the observer and the timers
 * of a collection: those of every server that was opened before would go on, and keep it in memory.
 */
function processMetrics(): Registry {
  if (ofProcess) return ofProcess
  ofProcess = new Registry()
  collectDefaultMetrics({ register: ofProcess, prefix: 'wayleave_' })
  return ofProcess
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
