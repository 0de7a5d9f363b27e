import { useSearchParams } from 'react-router'
import { useOffer, usePlan } from '../../api/billing-queries.ts'
import { useOrganization, useOrganizationUsage } from '../../api/queries.ts'
import { OrderNote } from '../../billing/order-note.tsx'
import { InvoicesCard, OrdersCard } from '../../billing/orders-cards.tsx'
import { PlanCard } from '../../billing/plan-card.tsx'
import { ProductsCard } from '../../billing/products-card.tsx'
import { ProfileCard } from '../../billing/profile-card.tsx'
import { useTitle } from '../../components/page/use-title.ts'
import { UsageForecast } from '../../usage/usage-forecast.tsx'
import { count, day } from '../../words.ts'

const DAY_MS = 86_400_000

/** Plans and credits: what the organization has, what it can buy, and what it has bought. */
export function BillingPage() {
  useTitle('Plans and credits')
  const organization = useOrganization()!
  const [parameters] = useSearchParams()
  const { data: plan } = usePlan()
  const usage = useOrganizationUsage(organization.id, lastDays(30))
  const mayBuy = organization.permissions.includes('BILLING_MANAGE')
  const paysByStripe = useOffer().data?.providers.includes('stripe') ?? false
  const back = localPath(parameters.get('back'))
  return (
    <div className="stack">
      <OrderNote orderId={parameters.get('order')} back={back} />
      <div className="figures">
        <div className="card figure">
          <strong>{count(organization.credits.balance)}</strong>
          <span>credits left</span>
        </div>
        <div className="card figure">
          <strong>{usage.data ? count(usage.data.totals.credits) : '–'}</strong>
          <span>credits used in 30 days</span>
        </div>
        <div className="card figure">
          <strong>{plan ? day(plan.periodEnd) : '–'}</strong>
          <span>{plan ? 'end of the period' : 'no plan'}</span>
        </div>
      </div>
      {organization.credits.balance < 0 && (
        <p className="note bad">
          The balance is negative because a payment was returned. Downloads stop until it is above zero.
        </p>
      )}
      <UsageForecast organization={organization} hasLink={false} />
      {plan && <PlanCard plan={plan} mayChange={mayBuy} />}
      <ProductsCard mayBuy={mayBuy} plan={plan} back={back} />
      <OrdersCard />
      <InvoicesCard mayOpenPortal={mayBuy && paysByStripe} />
      <ProfileCard mayChange={mayBuy} />
    </div>
  )
}

function lastDays(days: number): { startDate: string; endDate: string } {
  const date = (time: number) => new Date(time).toISOString().slice(0, 10)
  return { startDate: date(Date.now() - (days - 1) * DAY_MS), endDate: date(Date.now()) }
}

/** Only pages of this service: the parameter may come from anywhere. The service takes 1000 characters. */
function localPath(path: string | null): string | null {
  return path !== null && path.length <= 1000 && /^\/(?![/\\])[\x21-\x7e]*$/.test(path) ? path : null
}
