/** The revision of the plan that follows at the end of a period: the price that the organization agreed to. */
export function plannedPlans(kind: 'sqlite' | 'postgres'): string[] {
  return [`alter table subscriptions add column next_revision ${kind === 'sqlite' ? 'integer' : 'bigint'}`]
}
