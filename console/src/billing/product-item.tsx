import type { Product } from '@wayleave/contract/records'
import { AddOnBadges } from '../components/add-on-badges.tsx'
import { plural } from '../words.ts'
import { BuyForm, type CheckoutChoices } from './buy-form.tsx'
import { limitWords } from './limit-words.ts'
import { money } from './money.ts'

/** A product by itself, with what it has and a button to buy it. */
export function ProductItem({
  product,
  isCurrent,
  isOffered,
  more,
}: {
  product: Product
  /** It is the plan that the organization has. */
  isCurrent: boolean
  isOffered: boolean
  more: CheckoutChoices
}) {
  const isPack = product.kind === 'pack'
  const credits = plural(product.credits, 'credit')
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
      {product.credits > 0 && product.name !== credits && (
        <p className="small soft">
          {credits}
          {!isPack &&
            (product.keepsCredits ? ' each period, which are kept' : ' each period, which lapse at its end')}
        </p>
      )}
      {limitWords(product.limits) && <p className="small soft">{limitWords(product.limits)}</p>}
      <AddOnBadges addOns={product.addOns} none={null} />
      {isOffered && <BuyForm product={product} more={more} />}
    </li>
  )
}
