import { useQueryClient } from '@tanstack/react-query'
import type { Product, SubscriptionRecord } from '@wayleave/contract/records'
import { useState } from 'react'
import { useOffer, useUpgrades } from '../api/billing-queries.ts'
import { call } from '../api/call.ts'
import { AddOnBadges } from '../components/add-on-badges.tsx'
import { ActionDialog } from '../components/form/action-dialog.tsx'
import { Field } from '../components/form/field.tsx'
import { day, plural } from '../words.ts'
import { limitWords } from './limit-words.ts'
import { money } from './money.ts'
import { UpgradeDialog } from './upgrade-dialog.tsx'

/** The plan of the organization, what it includes, and what follows it. */
export function PlanCard({ plan, mayChange }: { plan: SubscriptionRecord; mayChange: boolean }) {
  const [open, setOpen] = useState<'cancel' | 'change' | 'upgrade' | null>(null)
  const { data: offer } = useOffer()
  const next = offer?.data.find(({ id }) => id === plan.nextProductId)
  const { data: larger = [] } = useUpgrades()
  const close = () => setOpen(null)
  return (
    <section className="card stack-small" aria-labelledby="plan">
      <div className="row spread">
        <h2 id="plan">{plan.productName}</h2>
        {mayChange && (
          <span className="row">
            {larger.length > 0 && (
              <button type="button" className="button" onClick={() => setOpen('upgrade')}>
                Upgrade now
              </button>
            )}
            <button type="button" className="button" onClick={() => setOpen('change')}>
              Change the plan
            </button>
            {!plan.cancelsAtEnd && (
              <button type="button" className="button" onClick={() => setOpen('cancel')}>
                Cancel the plan
              </button>
            )}
          </span>
        )}
      </div>
      <p>
        {money(plan.amount, plan.currency)} a {plan.period}
        {plan.credits > 0 && `, ${plural(plan.credits, 'credit')} each period`}.{' '}
        {plan.cancelsAtEnd
          ? `It ends on ${day(plan.periodEnd)}.`
          : `The period ends on ${day(plan.periodEnd)}${next ? `, and ${next.name} follows` : ''}.`}
      </p>
      {limitWords(plan.limits) && <p className="small soft">{limitWords(plan.limits)}</p>}
      <AddOnBadges addOns={plan.addOns} none={null} />
      {plan.state === 'past-due' && (
        <p className="note warn">
          The payment for the next period is missing.
          {plan.graceUntil && ` The plan ends on ${day(plan.graceUntil)} without it.`}
        </p>
      )}
      {open === 'cancel' && <CancelDialog plan={plan} onClose={close} />}
      {open === 'upgrade' && <UpgradeDialog plan={plan} larger={larger} onClose={close} />}
      {open === 'change' && <ChangeDialog plan={plan} onClose={close} />}
    </section>
  )
}

function CancelDialog({ plan, onClose }: { plan: SubscriptionRecord; onClose: () => void }) {
  const queries = useQueryClient()
  return (
    <ActionDialog
      title={`Cancel ${plan.productName}?`}
      action="Cancel the plan"
      danger
      onClose={onClose}
      onAction={async () => {
        await call('POST', '/v1/billing/subscription/cancel')
        await queries.invalidateQueries({ queryKey: ['billing'] })
      }}
    >
      <p>It goes on until {day(plan.periodEnd)}. Then its add-ons end, and nothing more is to be paid.</p>
    </ActionDialog>
  )
}

/** Stripe renews a plan in one currency, and at the end of the same period. */
function canFollow(plan: SubscriptionRecord, { kind, period, currency }: Product): boolean {
  const isBilledAlike = period === plan.period && currency === plan.currency
  return kind === 'plan' && (plan.provider !== 'stripe' || isBilledAlike)
}

function ChangeDialog({ plan, onClose }: { plan: SubscriptionRecord; onClose: () => void }) {
  const queries = useQueryClient()
  const plans = useOffer().data?.data.filter((product) => canFollow(plan, product)) ?? []
  const [productId, setProductId] = useState(plan.nextProductId ?? plan.productId)
  return (
    <ActionDialog
      title="Change the plan"
      action="Change the plan"
      onClose={onClose}
      onAction={async () => {
        await call('POST', '/v1/billing/subscription/change', { productId })
        await queries.invalidateQueries({ queryKey: ['billing'] })
      }}
    >
      <Field
        label="Plan"
        help={
          plan.cancelsAtEnd
            ? `It begins on ${day(plan.periodEnd)}, when the period ends, and the plan is not cancelled any more.`
            : `It begins on ${day(plan.periodEnd)}, when the period ends.`
        }
      >
        {(props) => (
          <select {...props} value={productId} onChange={(event) => setProductId(event.target.value)}>
            {plans.map(({ id, name, price, currency, period }) => (
              <option key={id} value={id}>
                {name}: {money(price, currency)} a {period}
              </option>
            ))}
          </select>
        )}
      </Field>
    </ActionDialog>
  )
}
