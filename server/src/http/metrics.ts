import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { RequestMetrics } from './request-metrics.ts'

/** What the service tells Prometheus. Labels are route patterns, never addresses as they were asked for. */
export class Metrics {
  readonly registry = new Registry()
  readonly requests = new RequestMetrics(this.registry)

  constructor() {
    collectDefaultMetrics({ register: this.registry, prefix: 'wayleave_' })
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
