import type { DataRoute } from '../../http/sockets/data-response.ts'
import { ROOT } from '../write/links.ts'
import type { ItemsDeps } from './items-page.ts'
import { itemsResponse } from './items-response.ts'

const BEFORE_TABLE = `${ROOT}/collections/`
const AFTER_TABLE = '/items'

/** The route of pages of features. */
export function itemsRoute(deps: ItemsDeps): DataRoute {
  return {
    pattern: `${BEFORE_TABLE}:table${AFTER_TABLE}`,
    tableIn(url) {
      const mark = url.indexOf('?', BEFORE_TABLE.length)
      const end = (mark === -1 ? url.length : mark) - AFTER_TABLE.length
      const isPlain = end > BEFORE_TABLE.length && url.startsWith(AFTER_TABLE, end)
      return isPlain ? url.slice(BEFORE_TABLE.length, end) : null
    },
    respond: (exchange, table) => itemsResponse(exchange, table, deps),
  }
}
