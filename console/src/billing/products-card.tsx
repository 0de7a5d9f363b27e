import type { PaymentProviderName } from '@wayleave/contract/billing-states'
import type { Product, SubscriptionRecord } from '@wayleave/contract/records'
import { useState } from 'react'
import { useOffer } from '../api/billing-queries.ts'
import { Field } from '../components/form/field.tsx'
import { Empty } from '../components/page/empty.tsx'
import { Loaded } from '../components/page/loaded.tsx'
import { PlansTable } from './plans-table.tsx'
import { ProductItem } from './product-item.tsx'

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
      {!mayBuy && <p className="soft">Members who may buy credits and plans can buy.</p>}
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
              const more = { ...(provider && { provider }), ...(back && { returnPath: back }) }
              const isOffered = mayBuy && !(kind === 'plan' && plan)
              return (
                <div key={kind} className="stack-small">
                  <h3>{KINDS[kind]}</h3>
                  {kind === 'plan' && products.length > 1 ? (
                    <PlansTable
                      plans={products}
                      current={plan?.productId}
                      isOffered={isOffered}
                      more={more}
                    />
                  ) : (
                    <ul className="products">
                      {products.map((product) => (
                        <ProductItem
                          key={product.id}
                          product={product}
                          isCurrent={product.id === plan?.productId}
                          isOffered={isOffered}
                          more={more}
                        />
                      ))}
                    </ul>
                  )}
                </div>
              )
            })
          )
        }
      </Loaded>
    </section>
  )
}
