import type { PaymentProviderName } from '@wayleave/contract/billing-states'
import type { Product } from '@wayleave/contract/records'
import { useState } from 'react'
import { ProblemNote } from '../components/page/problem-note.tsx'
import { useCheckout } from './use-checkout.ts'

/** How a product is paid, and where the buyer goes back to. */
export interface CheckoutChoices {
  provider?: PaymentProviderName
  returnPath?: string
}

/** The button that buys a product; of credits, how many of them. */
export function BuyForm({ product, more }: { product: Product; more: CheckoutChoices }) {
  const [quantity, setQuantity] = useState('1')
  const isPack = product.kind === 'pack'
  const buy = useCheckout('/v1/billing/checkout', () => ({
    productId: product.id,
    quantity: isPack ? Number(quantity) : 1,
    ...more,
  }))
  return (
    <>
      <form
        className="row"
        onSubmit={(event) => {
          event.preventDefault()
          buy.mutate()
        }}
      >
        {isPack && (
          <input
            className="quantity"
            type="number"
            min={1}
            max={1000}
            required
            aria-label={`Number of ${product.name}`}
            value={quantity}
            onChange={(event) => setQuantity(event.target.value)}
          />
        )}
        <button
          type="submit"
          className="button primary"
          disabled={buy.isPending}
          aria-label={`Buy ${product.name}`}
        >
          Buy
        </button>
      </form>
      {buy.isError && <ProblemNote error={buy.error} />}
    </>
  )
}
