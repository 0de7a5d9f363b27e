import type { Me } from '@wayleave/contract/records'
import { call } from './call.ts'
import { queryClient } from './query-client.ts'

export const meQuery = { queryKey: ['me'], queryFn: () => call<Me>('GET', '/v1/auth/me') }

/** Whether the signed-in user belongs to an organization; read once, and again after joining or leaving one. */
export async function hasOrganization(): Promise<boolean> {
  const { organization } = await queryClient.fetchQuery({ ...meQuery, staleTime: Infinity })
  return organization !== null
}
