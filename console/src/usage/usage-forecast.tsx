import type { OrganizationRecord } from '@wayleave/contract/records'
import { useMemo } from 'react'
import { Link } from 'react-router'
import { usePlan } from '../api/billing-queries.ts'
import { useOrganizationUsage } from '../api/queries.ts'
import { site } from '../site.ts'
import { forecastOf, forecastRange, forecastWords } from './forecast.ts'

/** What the organization will need until the end of its period, if it goes on as in the last days. */
export function UsageForecast({
  organization,
  hasLink = true,
}: {
  organization: Pick<OrganizationRecord, 'id' | 'credits'>
  /** Whether it leads to what can be bought. */
  hasLink?: boolean
}) {
  const now = useMemo(() => Date.now(), [])
  const { data: usage } = useOrganizationUsage(organization.id, forecastRange(now))
  const { data: plan, isPending } = usePlan()
  if (!usage || isPending) return null
  const { balance } = organization.credits
  const forecast = forecastOf(usage.days, { now, periodEnd: plan?.periodEnd ?? null, balance })
  if (!forecast) return null
  return (
    <div className={forecast.runsOut ? 'note warn' : 'note'}>
      <p>
        {forecastWords(forecast, balance)}{' '}
        {forecast.runsOut && hasLink && site.sells && (
          <Link to="/organization/billing">Compare plans and credits</Link>
        )}
      </p>
    </div>
  )
}
