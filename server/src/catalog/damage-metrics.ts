import { Gauge } from 'prom-client'
import type { Metrics } from '../http/metrics.ts'
import type { SnapshotHealth } from './snapshot-health.ts'

/** How many versions of each dataset are damaged; datasets without damage have no row. */
export function measureDamage({ registry }: Metrics, health: SnapshotHealth): void {
  new Gauge({
    name: 'wayleave_damaged_versions',
    help: 'Published versions whose files are damaged, by table.',
    labelNames: ['table'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { table } of health.damaged) this.inc({ table })
    },
  })
}
