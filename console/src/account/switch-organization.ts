import { call } from '../api/call.ts'
import { session } from '../api/session.ts'

/** Acts for another organization of the user, and opens a page of it. */
export async function switchOrganization(organizationId: string, path: string): Promise<void> {
  await call('POST', '/v1/auth/switch', { organizationId })
  session.switched(path)
}

/** The page to open after a switch: pages of the organization before may not exist in the other one. */
export function pageAfterSwitch({ pathname, search }: { pathname: string; search: string }): string {
  // A program has sent the user there, and waits for the answer.
  if (pathname === '/connect') return pathname + search
  return /^\/(?:datasets|administration|account)(?:\/|$)/.test(pathname) ? pathname : '/getting-started'
}
