import { type Origin, recordEvent } from '../../base/events/events.ts'
import type { ControlChange } from '../organizations/organizations.ts'

export async function recordPlanEvent(
  { tx, at, changed }: ControlChange,
  origin: Origin,
  action: string,
  organizationId: string,
  id: string,
  detail: Record<string, unknown>,
): Promise<void> {
  // The limits of its keys are those of the plan.
  changed('organization', organizationId)
  await recordEvent(tx, at, origin, { action, organizationId, subject: `subscription:${id}`, detail })
}
