import type { Order } from '@wayleave/contract/records'
import { Link } from 'react-router'
import { useOrder } from '../api/billing-queries.ts'
import { ProblemNote } from '../components/page/problem-note.tsx'
import { plural } from '../words.ts'

/** What has become of the order that the buyer comes back from. */
export function OrderNote({ orderId, back }: { orderId: string | null; back: string | null }) {
  const { data: order, isError, error } = useOrder(orderId)
  if (isError) return <ProblemNote error={error} />
  if (!order) return null
  return (
    <div className={`note ${order.state === 'paid' ? 'good' : 'warn'}`} role="status">
      <p>{wordsOf(order)}</p>
      {order.url && order.provider === 'stripe' && (
        <p>
          <a href={order.url}>Pay now</a>
        </p>
      )}
      {back && (
        <p>
          <Link to={back}>Back to what you were doing</Link>
        </p>
      )}
    </div>
  )
}

function wordsOf({ state, provider, productName, credits, reason }: Order): string {
  switch (state) {
    case 'paid':
      return credits === 0
        ? `${productName} is paid.`
        : `${productName} is paid: ${plural(credits, 'credit')} were added.`
    case 'open':
      return provider === 'invoice'
        ? `${productName} is ordered. The invoice below has the bank details; the order takes effect when it is paid.`
        : `${productName} is ordered, and waits for the payment.`
    case 'cancelled':
    case 'refunded':
    case 'held':
      return `${productName}: the order is ${state}. ${reason}`
  }
}
