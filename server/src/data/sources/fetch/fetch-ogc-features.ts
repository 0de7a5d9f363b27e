import { SourceError } from '@wayleave/geodata/compile'
import {
  type FeaturePages,
  type PageFeature,
  PageSize,
  requireComplete,
  writeFeaturePages,
} from './feature-pages.ts'
import type { FetchedSource, FetchOptions } from './fetch-options.ts'
import { getJson, shown } from './source-http.ts'

interface ItemsPage {
  type?: string
  features?: PageFeature[]
  numberMatched?: number
  links?: { rel?: string; href?: string }[]
}

/** A collection of an OGC API - Features, page by page along its links. */
export async function fetchOgcFeatures(address: string, options: FetchOptions): Promise<FetchedSource> {
  const url = new URL(address)
  const path = url.pathname.replace(/\/+$/, '')
  url.pathname = path.endsWith('/items') ? path : `${path}/items`
  const name = decodeURIComponent(url.pathname.split('/').at(-2)!)
  if (!url.searchParams.has('f')) url.searchParams.set('f', 'json')
  return writeFeaturePages(pagesFrom(url, name, options), name, options)
}

async function* pagesFrom(first: URL, name: string, options: FetchOptions): FeaturePages {
  const size = new PageSize(Number(first.searchParams.get('limit') ?? Number.POSITIVE_INFINITY))
  const visited = new Set<string>()
  let expected: number | null = null
  let received = 0
  let url: URL | null = first
  while (url) {
    if (visited.has(url.href)) throw new SourceError(`The pages of ${name} lead in a circle.`)
    visited.add(url.href)
    const pageUrl = url
    const page: ItemsPage = await size.fit((limit) => {
      // Links are followed as they are, unless pages of this size are too large.
      const asks = pageUrl === first || size.isReduced
      return getJson<ItemsPage>(asks ? withLimit(pageUrl, limit) : pageUrl, options)
    })
    if (!Array.isArray(page.features))
      throw new SourceError(`${shown(url)} did not respond with features as GeoJSON.`)
    expected ??= page.numberMatched ?? null
    received += page.features.length
    yield page.features
    const next = page.links?.find(({ rel, href }) => rel === 'next' && href)?.href
    url = next === undefined ? null : nextUrl(next, url, options)
  }
  requireComplete(received, expected, name)
}

function withLimit(page: URL, limit: number): URL {
  const url = new URL(page)
  url.searchParams.set('limit', String(limit))
  return url
}

/** A service behind a proxy may name itself by another address: the page is fetched where the first one was. */
function nextUrl(href: string, current: URL, { credentials }: FetchOptions): URL {
  const next = new URL(href, current)
  const url = new URL(current)
  url.search = next.search
  // Services leave secrets out of their links.
  for (const [name, value] of new URLSearchParams(credentials?.parameters))
    if (!url.searchParams.has(name)) url.searchParams.set(name, value)
  return url
}
