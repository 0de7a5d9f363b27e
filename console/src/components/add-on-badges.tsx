import { ADD_ON_NAMES, type AddOn } from '@wayleave/contract/add-ons'
import type { ReactNode } from 'react'

/** In a list, where badges in every row would be all that is seen. */
export function addOnWords(addOns: readonly AddOn[]): string {
  return addOns.map((addOn) => ADD_ON_NAMES[addOn] ?? addOn).join(', ') || 'None'
}

/** `none` is shown if there are no add-ons. */
export function AddOnBadges({ addOns, none }: { addOns: readonly AddOn[]; none: ReactNode }) {
  return (
    <span className="badges">
      {addOns.map((addOn) => (
        <span key={addOn} className="badge good" title={addOn}>
          {ADD_ON_NAMES[addOn] ?? addOn}
        </span>
      ))}
      {addOns.length === 0 && none}
    </span>
  )
}
