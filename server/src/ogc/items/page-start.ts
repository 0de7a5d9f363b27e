import { type Clock, HOUR } from '../../base/clock.ts'
import type { MaybePromise } from '../../base/maybe-promise.ts'
import { Problem } from '../../base/problem.ts'
import type { Catalog } from '../../data/catalog/catalog.ts'
import type { Dataset, Version } from '../../data/catalog/dataset.ts'
import type { Cursor, Cursors } from '../request/cursor.ts'
import type { ItemsQuery } from '../request/items-query.ts'
import { keptPairs } from '../request/read-again.ts'

/** How long a client may continue paging through a version after it was replaced. */
const GRACE = HOUR

export interface PageStart {
  version: Version
  /** The last position of the previous page; -1 on the first page. */
  after: number
}

interface PageStartDeps {
  catalog: Catalog
  clock: Clock
  cursors: Cursors
}

/**
 * The version and position where a page begins. All pages of one paging sequence read the version of the
 * first page, so that they are consistent. An hour after that version was replaced, the client has to start
 * over.
 */
export function pageStart(dataset: Dataset, query: ItemsQuery, deps: PageStartDeps): MaybePromise<PageStart> {
  if (query.cursor === null) return { version: dataset, after: -1 }
  const cursor = cursorOf(query, query.cursor, dataset.table, deps.cursors)
  if (cursor.version === dataset.version) return { version: dataset, after: cursor.position }
  return olderStart(dataset, cursor, deps)
}

/** The cursors of queries that are kept: checking a signature takes a tenth of the time of a page. */
const checkedCursors = new WeakMap<ItemsQuery, Cursor>()

function cursorOf(query: ItemsQuery, text: string, table: string, cursors: Cursors): Cursor {
  const checked = checkedCursors.get(query)
  if (checked !== undefined) return checked
  const cursor = cursors.read(text, table, query.selection)
  if (keptPairs.has(query.pairs)) checkedCursors.set(query, cursor)
  return cursor
}

async function olderStart(
  dataset: Dataset,
  { version: number, position }: Cursor,
  { catalog, clock }: PageStartDeps,
): Promise<PageStart> {
  const versions = await catalog.versions(dataset.table)
  const at = versions.findIndex(({ version }) => version === number)
  const successor = versions[at - 1]
  const olderVersion = versions[at]
  if (!olderVersion || !successor || clock().getTime() - Date.parse(successor.createdAt) > GRACE) {
    throw new Problem('invalid-cursor', 'The dataset was replaced meanwhile. Begin again at the first page.')
  }
  return { version: olderVersion, after: position }
}
