import type { PlanUpgrade, SubscriptionRecord } from '@wayleave/contract/records'
import { useState } from 'react'
import { useOffer } from '../api/billing-queries.ts'
import { ActionDialog } from '../components/form/action-dialog.tsx'
import { Field } from '../components/form/field.tsx'
import { day, plural } from '../words.ts'
import { money } from './money.ts'
import { useCheckout } from './use-checkout.ts'

/** Orders a larger plan for the rest of the period. */
export function UpgradeDialog({
  plan,
  larger,
  onClose,
}: {
  plan: SubscriptionRecord
  larger: PlanUpgrade[]
  onClose: () => void
}) {
  const products = useOffer().data?.data ?? []
  const [productId, setProductId] = useState(larger[0]!.productId)
  const order = useCheckout('/v1/billing/subscription/upgrade', () => ({ productId }))
  const chosen = larger.find((upgrade) => upgrade.productId === productId)!
  return (
    <ActionDialog
      title={`Upgrade ${plan.productName}`}
      action="Order the upgrade"
      onClose={onClose}
      onAction={() => order.mutateAsync()}
    >
      <Field label="Plan">
        {(props) => (
          <select {...props} value={productId} onChange={(event) => setProductId(event.target.value)}>
            {larger.map((upgrade) => (
              <option key={upgrade.productId} value={upgrade.productId}>
                {products.find(({ id }) => id === upgrade.productId)?.name ?? upgrade.productId}
              </option>
            ))}
          </select>
        )}
      </Field>
      <p>
        {money(chosen.amount, chosen.currency)} for the time until {day(plan.periodEnd)}, with{' '}
        {plural(chosen.credits, 'credit')} more. It holds when it is paid, and the next period has the price
        of the larger plan.
      </p>
    </ActionDialog>
  )
}
