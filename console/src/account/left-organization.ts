import type { OrganizationRecord } from '@wayleave/contract/records'
import { call } from '../api/call.ts'
import { organizationChanged } from '../api/queries.ts'
import { switchOrganization } from './switch-organization.ts'

/** After the user has left or deleted the organization of the session: goes on in another one, if there is one. */
export async function leftOrganization(navigate: (path: string) => unknown): Promise<void> {
  const { data } = await call<{ data: OrganizationRecord[] }>('GET', '/v1/organizations')
  const next = data[0]
  if (next) return switchOrganization(next.id, '/getting-started')
  navigate('/')
  await organizationChanged()
}
