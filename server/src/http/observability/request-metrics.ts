export const REQUESTS_TOTAL = 'wayleave_http_requests_total'
const BUCKETS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10]

/**
 * One value of a metric, as in Prometheus's text format.
 *
 * See docs/decisions/plain-request-log.md.
 */
export interface MetricValue {
  metricName?: string
  labels: Record<string, string | number>
  value: number
}

interface ResponseCount {
  method: string
  status: number
  count: number
}

interface RouteNumbers {
  /** Keyed by method and status. */
  responses: Map<string, ResponseCount>
  /** The count that was increased last: most responses of a route are alike. */
  last: ResponseCount | null
  /** By the first bucket that is not exceeded; the last is for durations above all buckets. */
  times: number[]
  seconds: number
}

/**
 * Counts requests by route in plain numbers, which are converted to Prometheus's format on a scrape: the
 * library's own counters look up every label at every request, which took as long as finding a page of
 * features.
 */
export class RequestMetrics {
  readonly #routes = new Map<string, RouteNumbers>()

  constructor(register: (type: string, name: string, help: string, values: () => MetricValue[]) => void) {
    register('counter', REQUESTS_TOTAL, 'Responses, by method, route and status.', () => this.#responses())
    const help = 'Time from request to the end of its response, by route.'
    register('histogram', SECONDS, help, () => this.#times())
  }

  observe(method: string, route: string, status: number, milliseconds: number): void {
    let numbers = this.#routes.get(route)
    if (!numbers) {
      numbers = { responses: new Map(), last: null, times: Array(BUCKETS.length + 1).fill(0), seconds: 0 }
      this.#routes.set(route, numbers)
    }
    let ofKind = numbers.last
    if (ofKind === null || ofKind.status !== status || ofKind.method !== method) {
      ofKind = numbers.responses.get(method + status) ?? { method, status, count: 0 }
      numbers.responses.set(method + status, ofKind)
      numbers.last = ofKind
    }
    ofKind.count++
    const seconds = milliseconds / 1000
    let bucket = 0
    while (bucket < BUCKETS.length && seconds > BUCKETS[bucket]!) bucket++
    numbers.times[bucket]!++
    numbers.seconds += seconds
  }

  #responses(): MetricValue[] {
    return [...this.#routes].flatMap(([route, { responses }]) =>
      [...responses.values()].map(({ method, status, count }) => ({
        labels: { method, route, status },
        value: count,
      })),
    )
  }

  #times(): MetricValue[] {
    return [...this.#routes].flatMap(([route, { times, seconds }]) => {
      let count = 0
      const buckets = times.map((some, i) => {
        count += some
        return { metricName: `${SECONDS}_bucket`, labels: { le: BUCKETS[i] ?? '+Inf', route }, value: count }
      })
      return [
        ...buckets,
        { metricName: `${SECONDS}_sum`, labels: { route }, value: seconds },
        { metricName: `${SECONDS}_count`, labels: { route }, value: count },
      ]
    })
  }
}

const SECONDS = 'wayleave_http_request_duration_seconds'
