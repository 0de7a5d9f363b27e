import type { WithResponse } from './call.ts'
import { checkBbox, checkOptions, checkTable } from './check-arguments.ts'
import type { Feature } from './feature.ts'
import { withNameHints } from './name-hints.ts'
import { Receipt, type ResponseInfo } from './response-info.ts'
import { CALL_OPTIONS, type CallOptions, getJson, type Transport } from './transport.ts'

export interface ItemsOptions extends CallOptions {
  /** The size of a page (1,000; at most 10,000), not of the whole result. */
  limit?: number | undefined
  /** West, south, east, north in WGS84. */
  bbox?: readonly number[] | undefined
  /** CQL2, as text or as JSON. */
  filter?: string | object | undefined
  /** An instant or an interval, such as `2024-01-01/..`. */
  datetime?: string | undefined
  /** Column names; `-` before a name sorts descending. */
  sortby?: string | readonly string[] | undefined
  /** The columns to fetch; all without it. */
  columns?: readonly string[] | undefined
  /** Whether the page has `numberMatched`: always, if it is counted in a millisecond (`auto`, the default), or never. */
  count?: 'exact' | 'auto' | 'none' | undefined
}

const ITEMS_OPTIONS = ['limit', 'bbox', 'filter', 'datetime', 'sortby', 'columns', 'count', ...CALL_OPTIONS]

/** A page of features: a GeoJSON FeatureCollection, ready for any map. */
export interface ItemsPage<P = Record<string, unknown>> {
  type: 'FeatureCollection'
  features: Feature<P>[]
  links: { href: string; rel: string; type?: string; title?: string }[]
  numberReturned: number
  /** How many features match in total, if the service counts them: see `count`. */
  numberMatched?: number
  timeStamp?: string
  /** Fetches the following page; undefined after the last. */
  readonly next: () => Promise<ItemsPage<P> | undefined>
  /** Rate limits, request id and headers of the response that carried the page. */
  readonly response: ResponseInfo
}

/** Awaited, the first page; iterated, the features of all pages. Nothing is requested before. */
export class Items<P = Record<string, unknown>>
  implements PromiseLike<ItemsPage<P>>, AsyncIterable<Feature<P>>
{
  readonly #first: () => Promise<ItemsPage<P>>

  constructor(transport: Transport, table: string, options: ItemsOptions) {
    checkTable('items()', table)
    checkOptions('items()', options, ITEMS_OPTIONS)
    checkBbox(options.bbox)
    const path = `/v1/ogc/collections/${encodeURIComponent(table)}/items`
    const page = async (query: string): Promise<ItemsPage<P>> => {
      const receipt = new Receipt()
      const body = await getJson<ItemsPage<P>>(transport, path + query, options, receipt)
      const link = body.links?.find(({ rel }) => rel === 'next')?.href
      // Only the query is taken: the key is sent to the base URL, whatever address a link names.
      const next = async () => (link ? page(link.slice(link.indexOf('?'))) : undefined)
      // Not enumerable, so that the page can be copied to a worker.
      return Object.defineProperties(body, { next: { value: next }, response: { value: receipt.info() } })
    }
    const names = { table, columnText: columnText(options) }
    this.#first = async () => {
      // After an `await`, the stack of an error contains the line that awaits the items.
      await undefined
      return withNameHints(transport, names, options, () => page(queryOf(options)))
    }
  }

  // biome-ignore lint/suspicious/noThenProperty: awaited it is one page, iterated it is all features.
  then<A = ItemsPage<P>, B = never>(
    resolve?: ((page: ItemsPage<P>) => A | PromiseLike<A>) | null,
    reject?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#first().then(resolve, reject)
  }

  catch<B = never>(reject?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<ItemsPage<P> | B> {
    return this.#first().catch(reject)
  }

  finally(settle?: (() => void) | null): Promise<ItemsPage<P>> {
    return this.#first().finally(settle)
  }

  /** The first page together with rate limits, request id and headers of its response. */
  async withResponse(): Promise<WithResponse<ItemsPage<P>>> {
    const data = await this.#first()
    return { data, response: data.response }
  }

  async *pages(): AsyncGenerator<ItemsPage<P>, void, undefined> {
    for (let page: ItemsPage<P> | undefined = await this.#first(); page; page = await page.next()) yield page
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Feature<P>, void, undefined> {
    for await (const page of this.pages()) yield* page.features
  }
}

function queryOf({ limit, bbox, filter, datetime, sortby, columns, count }: ItemsOptions): string {
  const query = filterParameters({ filter, datetime })
  const lists = { sortby: nameList(sortby), properties: nameList(columns) }
  for (const [name, value] of Object.entries({ limit, bbox, count, ...lists })) {
    if (value !== undefined) query.set(name, String(value))
  }
  return `?${query}`
}

/** Names as the service takes them: separated by commas, or a JSON array if it would misread them. */
export function nameList(names: string | readonly string[] | undefined): string | undefined {
  if (!Array.isArray(names)) return names as string | undefined
  return names.some((name) => /^\[|,/.test(name)) ? JSON.stringify(names) : names.join()
}

/** The parameters that select features, for items and for tiles. */
export function filterParameters({
  filter,
  datetime,
}: Pick<ItemsOptions, 'filter' | 'datetime'>): URLSearchParams {
  const query = new URLSearchParams()
  if (filter) {
    const isJson = typeof filter === 'object'
    query.set('filter', isJson ? JSON.stringify(filter) : filter)
    query.set('filter-lang', isJson ? 'cql2-json' : 'cql2-text')
  }
  if (datetime !== undefined) query.set('datetime', datetime)
  return query
}

/** Everything that may name a column, as one text; undefined if there is nothing. */
function columnText({ filter, sortby, columns }: ItemsOptions): string | undefined {
  const parts = [filter, sortby, columns].filter((part) => part !== undefined)
  return parts.length > 0 ? JSON.stringify(parts) : undefined
}
