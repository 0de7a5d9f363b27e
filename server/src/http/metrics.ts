import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** What the service tells Prometheus. Labels are route patterns, never addresses as they were asked for. */
export class Metrics {
  readonly registry = new Registry()
  readonly #requests = new Counter({
    name: 'wayleave_http_requests_total',
    help: 'Requests answered, by method, route and status.',
    labelNames: ['method', 'route', 'status'] as const,
    registers: [this.registry],
  })
  readonly #seconds = new Histogram({
    name: 'wayleave_http_request_duration_seconds',
    help: 'Time from request to the end of its answer, by route.',
    labelNames: ['route'] as const,
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
    registers: [this.registry],
  })
  /** Looking a counter up by its labels costs more than counting: children are kept by a joined name. */
  readonly #children = new Map<string, { count: { inc(): void }; time: { observe(seconds: number): void } }>()

  constructor() {
    collectDefaultMetrics({ register: this.registry, prefix: 'wayleave_' })
  }

  observe(method: string, route: string, status: number, milliseconds: number): void {
    const name = `${method} ${status} ${route}`
    let child = this.#children.get(name)
    if (!child) {
      child = {
        count: this.#requests.labels(method, route, String(status)),
        time: this.#seconds.labels(route),
      }
      this.#children.set(name, child)
    }
    child.count.inc()
    child.time.observe(milliseconds / 1000)
  }

  gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name: `wayleave_${name}`,
      help,
      registers: [this.registry],
      collect() {
        this.set(read())
      },
    })
  }

  counter(name: string, help: string): Counter {
    return new Counter({ name: `wayleave_${name}`, help, registers: [this.registry] })
  }
}
