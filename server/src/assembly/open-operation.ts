import { isFirst } from '../base/threads/thread-place.ts'
import type { CheckReady } from '../http/observability/operation-routes.ts'
import { Housekeeping } from '../operation/housekeeping/housekeeping.ts'
import { HousekeepingClock } from '../operation/housekeeping/housekeeping-clock.ts'
import { readiness } from '../operation/readiness/readiness.ts'
import type { Closers } from './closers.ts'
import type { ControlPlane } from './control-plane.ts'
import type { AccountParts } from './open-accounts.ts'
import type { CatalogParts, JobParts } from './open-data.ts'
import type { HttpParts } from './open-http.ts'
import type { Opening } from './opening.ts'
import { scheduleHousekeeping, scheduleThreadWork } from './schedule-housekeeping.ts'

/** What runs from time to time, and what /ready checks. */
export interface OperationParts {
  housekeeping: Housekeeping
  housekeepingClock: HousekeepingClock
  checkReady: CheckReady
}

export async function openOperation(
  opening: Opening & { control: ControlPlane } & AccountParts &
    CatalogParts &
    JobParts &
    Pick<HttpParts, 'overload'>,
  opened: Closers,
): Promise<OperationParts> {
  const { config, log, clock, serving, control, blobs, overload, thread } = opening
  const { database, changes } = control
  const { dataDir, minFreeBytes, maxClockSkew: maxSkew, acceptClock: accept } = config
  const housekeepingClock = new HousekeepingClock({ database, clock, log, maxSkew, accept })
  const housekeeping = opened.use(new Housekeeping(log))
  opened.defer(() => overload.stop())
  const deps = { ...opening, housekeeping, housekeepingClock }
  if (serving) await scheduleThreadWork(deps, opened)
  if (serving && isFirst(thread)) await scheduleHousekeeping(deps, opened)
  const checkReady = readiness({ database, changes, blobs, dataDir, minFreeBytes, log })
  return { housekeeping, housekeepingClock, checkReady }
}
