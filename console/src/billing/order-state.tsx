import type { OrderState, PaymentProviderName } from '@wayleave/contract/billing-states'

/** Who takes the payment. */
export const PROVIDER_NAMES: Record<PaymentProviderName, string> = {
  stripe: 'Stripe',
  invoice: 'Invoice',
  demo: 'Demo',
}

const WORDS: Record<OrderState, [text: string, look: string]> = {
  open: ['Open', 'warn'],
  paid: ['Paid', 'good'],
  cancelled: ['Cancelled', ''],
  refunded: ['Refunded', ''],
  held: ['Held', 'bad'],
}

export const ORDER_STATE_OPTIONS: Record<string, string> = {
  '': 'All',
  ...Object.fromEntries(Object.entries(WORDS).map(([state, [text]]) => [state, text])),
}

export function OrderStateBadge({ state, reason }: { state: OrderState; reason: string }) {
  const [text, look] = WORDS[state]
  return (
    <>
      <span className={`badge ${look}`}>{text}</span>
      {reason && <div className="small soft">{reason}</div>}
    </>
  )
}
