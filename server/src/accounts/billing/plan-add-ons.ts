import type { AddOn } from '@wayleave/contract/add-ons'
import type { Product } from '@wayleave/contract/records'
import type { Origin } from '../../base/events/events.ts'
import { lockOrganizations } from '../access/membership-store.ts'
import { type ControlChange, changeAddOns } from '../organizations/organizations.ts'
import type { SubscriptionRow } from './subscription-store.ts'

/**
 * Gives the organization the add-ons of another product, and takes those that only the former one granted. Returns what
 * the plan has granted now, as JSON.
 */
export async function setPlanProduct(
  change: ControlChange,
  origin: Origin,
  subscription: SubscriptionRow,
  product: Product,
): Promise<string> {
  const isChanged = subscription.product_id !== product.id
  if (isChanged) await removeAddOns(change, origin, subscription, product.addOns)
  const kept = (JSON.parse(subscription.granted_add_ons) as AddOn[]).filter(
    (addOn) => !isChanged || product.addOns.includes(addOn),
  )
  const added = await grantAddOns(change, origin, subscription.organization_id, product)
  return JSON.stringify([...new Set([...kept, ...added])])
}

/** Returns the add-ons that the organization did not have before. */
export async function grantAddOns(
  change: ControlChange,
  origin: Origin,
  organizationId: string,
  { addOns }: Product,
): Promise<AddOn[]> {
  let added: AddOn[] = []
  if (addOns.length === 0) return added
  await changeAddOns(change, origin, organizationId, (current) => {
    added = addOns.filter((addOn) => !current.includes(addOn))
    return [...current, ...added]
  })
  return added
}

/** Removes what the plan has granted, except those to keep. */
export async function removeAddOns(
  change: ControlChange,
  origin: Origin,
  { organization_id, granted_add_ons }: SubscriptionRow,
  kept: readonly AddOn[],
): Promise<void> {
  const granted = (JSON.parse(granted_add_ons) as AddOn[]).filter((addOn) => !kept.includes(addOn))
  if (granted.length === 0) return
  // A closed organization has no use of add-ons.
  if ((await lockOrganizations(change.database, change.tx, [organization_id])).size === 0) return
  await changeAddOns(change, origin, organization_id, (current) =>
    current.filter((addOn) => !granted.includes(addOn)),
  )
}
