import { notFound } from '../../base/problem.ts'
import { security, tags } from '../../http/openapi.ts'
import type { Authenticate } from '../access/authenticate.ts'
import type { Organizations } from '../organizations/organizations.ts'
import type { Billing } from './billing.ts'
import type { Products } from './products.ts'

export interface BillingRoutesDeps {
  billing: Billing
  products: Products
  organizations: Organizations
  authenticate: Authenticate
}

export const documented = { tags: [tags.billing], security: security.token }

/** The caller, and the organization that they are a member of. */
export async function callerOf(
  { authenticate, organizations }: BillingRoutesDeps,
  request: Parameters<Authenticate['userOf']>[0],
) {
  const caller = authenticate.userOf(request)
  const organization = await organizations.recordOf(caller)
  if (!organization) throw notFound('organization of the caller')
  return { caller, organizationId: organization.id }
}
