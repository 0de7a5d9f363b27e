import { type DataRoute, matchPattern } from '../../http/sockets/data-response.ts'
import { ROOT } from '../write/links.ts'
import type { ItemsDeps } from './items-page.ts'
import { itemsResponse } from './items-response.ts'

/** The route of pages of features. */
export function itemsRoute(deps: ItemsDeps): DataRoute {
  const pattern = `${ROOT}/collections/:table/items`
  return {
    pattern,
    match: matchPattern(pattern),
    respond: (exchange, { table }) => itemsResponse(exchange, table!, deps),
  }
}
