import type { PaymentProviderName } from '@wayleave/contract/billing-states'
import type { Product, SubscriptionRecord } from '@wayleave/contract/records'
import { useState } from 'react'
import { useOffer } from '../api/billing-queries.ts'
import { AddOnBadges } from '../components/add-on-badges.tsx'
import { Field } from '../components/form/field.tsx'
import { Empty } from '../components/page/empty.tsx'
import { Loaded } from '../components/page/loaded.tsx'
import { ProblemNote } from '../components/page/problem-note.tsx'
import { plural } from '../words.ts'
import { limitWords } from './limit-words.ts'
import { money } from './money.ts'
import { useCheckout } from './use-checkout.ts'

const WAYS: Record<PaymentProviderName, string> = {
  stripe: 'Card and other ways (Stripe)',
  invoice: 'Invoice',
  demo: 'Demo: paid at once',
}

const KINDS: Record<Product['kind'], string> = { plan: 'Plans', pack: 'Credits' }

/** What can be bought, and how to pay for it. */
export function ProductsCard({
  mayBuy,
  plan,
  back,
}: {
  mayBuy: boolean
  /** The plan that the organization has. */
  plan: SubscriptionRecord | null | undefined
  /** The path that the buyer goes back to; null if they came from nowhere. */
  back: string | null
}) {
  const offer = useOffer()
  const [provider, setProvider] = useState<PaymentProviderName | null>(null)
  return (
    <section className="card stack" aria-labelledby="products">
      <div className="row spread">
        <h2 id="products">Buy</h2>
        {offer.data && offer.data.data.length > 0 && offer.data.providers.length > 1 && mayBuy && (
          <Field label="Pay by">
            {(props) => (
              <select
                {...props}
                value={provider ?? offer.data.providers[0]}
                onChange={(event) => setProvider(event.target.value as PaymentProviderName)}
              >
                {offer.data.providers.map((name) => (
                  <option key={name} value={name}>
                    {WAYS[name]}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
      </div>
      {!mayBuy && <p className="soft">Members who may “Buy credits and plans” can buy.</p>}
      <Loaded query={offer} lines={4}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="Nothing is sold yet">
              <p>The operator has not offered any plan or credits. Ask for them under “Access”.</p>
            </Empty>
          ) : (
            (['plan', 'pack'] as const).map((kind) => {
              const products = data.filter((product) => product.kind === kind)
              if (products.length === 0) return null
              return (
                <div key={kind} className="stack-small">
                  <h3>{KINDS[kind]}</h3>
                  <ul className="products">
                    {products.map((product) => (
                      <ProductItem
                        key={product.id}
                        product={product}
                        isCurrent={product.id === plan?.productId}
                        isOffered={mayBuy && !(kind === 'plan' && plan)}
                        more={{ ...(provider && { provider }), ...(back && { returnPath: back }) }}
                      />
                    ))}
                  </ul>
                </div>
              )
            })
          )
        }
      </Loaded>
    </section>
  )
}

function ProductItem({
  product,
  isCurrent,
  isOffered,
  more,
}: {
  product: Product
  /** It is the plan that the organization has. */
  isCurrent: boolean
  isOffered: boolean
  more: { provider?: PaymentProviderName; returnPath?: string }
}) {
  const [quantity, setQuantity] = useState('1')
  const isPack = product.kind === 'pack'
  const buy = useCheckout('/v1/billing/checkout', () => ({
    productId: product.id,
    quantity: isPack ? Number(quantity) : 1,
    ...more,
  }))
  return (
    <li className="card stack-small">
      <div className="row spread">
        <h4>{product.name}</h4>
        {isCurrent && <span className="badge good">Your plan</span>}
      </div>
      <p>
        <strong className="price">{money(product.price, product.currency)}</strong>
        {product.period && <span className="soft"> a {product.period}</span>}
      </p>
      {product.description && <p className="small">{product.description}</p>}
      {product.credits > 0 && (
        <p className="small soft">
          {plural(product.credits, 'credit')}
          {!isPack &&
            (product.keepsCredits ? ' each period, which are kept' : ' each period, which lapse at its end')}
        </p>
      )}
      {limitWords(product.limits) && <p className="small soft">{limitWords(product.limits)}</p>}
      <AddOnBadges addOns={product.addOns} none={null} />
      {isOffered && (
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
      )}
      {buy.isError && <ProblemNote error={buy.error} />}
    </li>
  )
}
