import type { PlanLimits } from '@wayleave/contract/records'
import type { Db, Tx } from '../../base/database/open.ts'

/** Limits that a plan sets; what is missing is as the settings say. */
export type SetPlanLimits = Partial<{ [Name in keyof PlanLimits]: number }>

/** What the current plan of the organization limits. Nothing has to be taken back when the plan ends. */
export async function readPlanLimits(db: Db | Tx, organizationId: string): Promise<SetPlanLimits> {
  const row = await db
    .selectFrom('subscriptions')
    .innerJoin('product_revisions', (join) =>
      join
        .onRef('product_revisions.product_id', '=', 'subscriptions.product_id')
        .onRef('product_revisions.revision', '=', 'subscriptions.revision'),
    )
    .select('product_revisions.limits')
    .where('subscriptions.organization_id', '=', organizationId)
    .where('subscriptions.state', '<>', 'ended')
    .executeTakeFirst()
  return row === undefined ? {} : (JSON.parse(row.limits) as SetPlanLimits)
}
