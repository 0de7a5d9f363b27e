import type { Product } from '@wayleave/contract/records'
import { count } from '../words.ts'

/** What plans are compared by: a name, and a text for each plan. */
export interface PlanRow {
  name: string
  texts: string[]
}

/** The rows of the comparison. What no plan has, or what none limits, is left out. */
export function planRows(plans: readonly Product[]): PlanRow[] {
  const limit = (name: string, key: keyof Product['limits']): PlanRow => ({
    name,
    texts: plans.map(({ limits }) => (limits[key] === null ? 'No limit' : count(limits[key]))),
  })
  const rows: PlanRow[] = [
    { name: 'Credits each period', texts: plans.map(({ credits }) => (credits > 0 ? count(credits) : '–')) },
    {
      name: 'Credits that are left',
      texts: plans.map(({ credits, keepsCredits }) =>
        credits === 0 ? '–' : keepsCredits ? 'Are kept' : 'Lapse',
      ),
    },
    limit('Requests a minute', 'requestsPerMinute'),
    limit('Features a day', 'featuresPerDay'),
    limit('Keys', 'keys'),
    limit('Members', 'members'),
  ]
  return rows.filter(({ texts }) => texts.some((text) => text !== '–' && text !== 'No limit'))
}
