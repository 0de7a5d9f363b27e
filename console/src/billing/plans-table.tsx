import { ADD_ON_NAMES, ADD_ONS } from '@wayleave/contract/add-ons'
import type { Product } from '@wayleave/contract/records'
import { Icon } from '../components/icon.tsx'
import { Scroll } from '../components/scroll.tsx'
import { BuyForm, type CheckoutChoices } from './buy-form.tsx'
import { money } from './money.ts'
import { planRows } from './plan-rows.ts'

/** All plans side by side, with what distinguishes them. */
export function PlansTable({
  plans,
  current,
  isOffered,
  more,
}: {
  plans: readonly Product[]
  /** The plan that the organization has. */
  current: string | undefined
  isOffered: boolean
  more: CheckoutChoices
}) {
  const addOns = ADD_ONS.filter((addOn) => plans.some((plan) => plan.addOns.includes(addOn)))
  return (
    <Scroll label="Plans">
      <table className="plans">
        <thead>
          <tr>
            <td />
            {plans.map(({ id, name, description }) => (
              <th key={id} scope="col">
                <span className="plan-name">{name}</span>{' '}
                {id === current && <span className="badge good">Your plan</span>}
                {description && <p className="small soft">{description}</p>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">Price</th>
            {plans.map(({ id, price, currency, period }) => (
              <td key={id}>
                <strong className="price">{money(price, currency)}</strong>{' '}
                {period && <span className="soft">a {period}</span>}
              </td>
            ))}
          </tr>
          {planRows(plans).map(({ name, texts }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {texts.map((text, index) => (
                <td key={plans[index]!.id}>{text}</td>
              ))}
            </tr>
          ))}
          {addOns.map((addOn) => (
            <tr key={addOn}>
              <th scope="row">{ADD_ON_NAMES[addOn]}</th>
              {plans.map(({ id, addOns: own }) => (
                <td key={id}>{own.includes(addOn) ? <Yes /> : <span className="soft">–</span>}</td>
              ))}
            </tr>
          ))}
          {isOffered && (
            <tr>
              <td />
              {plans.map((plan) => (
                <td key={plan.id}>
                  <BuyForm product={plan} more={more} />
                </td>
              ))}
            </tr>
          )}
        </tbody>
      </table>
    </Scroll>
  )
}

function Yes() {
  return (
    <span className="has">
      <Icon name="check" />
      <span className="visually-hidden">Yes</span>
    </span>
  )
}
