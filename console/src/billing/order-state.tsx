import type { OrderState } from '@wayleave/contract/billing-states'

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
