import type { Drill } from '../drill.ts'
import { killDrill } from './kills.ts'

export const drill: Drill = {
  ...killDrill('postgres', { long: 200, short: 1 }, 2),
  coveredBy: 'server/src/data/publishing/upload-jobs/job-recovery.test.ts',
}
