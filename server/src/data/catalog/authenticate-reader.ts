import type { Authenticate, AuthRequest } from '../../accounts/access/authenticate.ts'
import type { Grant } from '../../accounts/access/grant.ts'
import { andThen, type MaybePromise } from '../../base/maybe-promise.ts'
import type { Catalog } from './catalog.ts'

/**
 * The grant of a request for the data of a dataset: that of its key or, for an open dataset, of its network
 * address. Without a key, a dataset that is not open is the same 401 as one that does not exist.
 */
export function authenticateReader(
  authRequest: AuthRequest,
  table: string,
  { authenticate, catalog }: { authenticate: Authenticate; catalog: Catalog },
  limit: 'key' | 'tile' = 'key',
): MaybePromise<Grant> {
  if (authenticate.hasKey(authRequest.request)) return authenticate.keyOf(authRequest, limit)
  return andThen(catalog.findOpen(table), (dataset) =>
    dataset === null ? authenticate.keyOf(authRequest, limit) : authenticate.openDataOf(authRequest, limit),
  )
}
