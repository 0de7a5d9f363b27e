import type { Drill } from '../drill.ts'
import { killDrill } from './kills.ts'

/** The drill of the workers kills more nodes on PostgreSQL under the same load. */
export const drill: Drill = {
  ...killDrill('postgres', { long: 200, short: 1 }, 2),
  coveredBy: 'drills/src/kinds/workers.ts',
}
