import type { Dataset } from '../../data/catalog/dataset.ts'
import { geojson, ITEMS_ENCODINGS, json } from '../request/encodings.ts'
import type { QueryPair } from '../request/query-string.ts'
import { keptPairs } from '../request/read-again.ts'
import { pageHead, pageLinks } from './geojson-page.ts'
import { linkQuery, ROOT } from './links.ts'
import type { PageHead } from './page-content.ts'

/** The text between the URLs of the links; only the URLs differ from page to page. */
const SELF = `","rel":"self","type":"${geojson.mediaType}","title":"This page"},{"href":"`
const NEXT = `","rel":"next","type":"${geojson.mediaType}","title":"The next page"},{"href":"`
const alternates = (join: '?' | '&') =>
  ITEMS_ENCODINGS.filter((encoding) => encoding !== geojson).map(
    ({ name, mediaType, title }) =>
      `${join}f=${name}","rel":"alternate","type":"${mediaType}","title":"This page as ${title}"},{"href":"`,
  )
const FIRST_ALTERNATES = alternates('?')
const ALTERNATES = alternates('&')

/** Text without quotes or backslashes, in which each character is one byte. */
const PLAIN = /^[ !#-[\]-~]*$/

/** What all pages of a dataset have in common. */
interface CommonText {
  base: string
  url: string
  /** From the URL of the collection, which is the last link, to the first feature. */
  end: string
}

const commonTexts = new WeakMap<Dataset, CommonText>()

export interface GeojsonHead extends Omit<PageHead, 'links'> {
  dataset: Dataset
  base: string
  pairs: readonly QueryPair[]
  /** The cursor of the next page; null on the last page. */
  next: string | null
}

/**
 * The head of a GeoJSON page, to be written as latin1: one character per byte, so that its length is known
 * before it is written. Every page has a head, whatever its size, so if nothing has to be escaped it is
 * assembled from parts that are escaped already.
 */
export function pageHeadText(head: GeojsonHead): string {
  const { dataset, base, pairs, next, returned, matched, timeStamp } = head
  const common = commonText(dataset, base)
  const texts = linkTexts(common, pairs)
  if (texts === null) {
    const links = pageLinks(dataset, base, pairs, geojson, next)
    return asBytes(pageHead({ links, returned, matched, timeStamp }))
  }
  const total = matched === null ? '' : `"numberMatched":${matched},`
  const nextLink = next === null ? '' : texts.beforeCursor + next + NEXT
  return `{"type":"FeatureCollection",${total}"numberReturned":${returned},"timeStamp":"${timeStamp}",${texts.self}${nextLink}${texts.alternates}${common.end}`
}

/** The links of the pages of a query: all but the cursor is the same whenever the page is requested. */
interface LinkTexts {
  common: CommonText
  self: string
  beforeCursor: string
  alternates: string
}

/** By the parameters of queries that are requested again. */
const linksOfQueries = new WeakMap<readonly QueryPair[], LinkTexts>()

/** Null if something has to be escaped, or if the query names an encoding. */
function linkTexts(common: CommonText, pairs: readonly QueryPair[]): LinkTexts | null {
  const cached = linksOfQueries.get(pairs)
  if (cached?.common === common) return cached
  const own = linkQuery(pairs, [])
  // Testing a text also joins its parts in memory, which is done once here instead of once for each link.
  const self = common.url + own
  if (!PLAIN.test(self) || pairs.some(({ name }) => name === 'f')) return null
  const isFirst = !pairs.some(({ name }) => name === 'cursor' || name === 'offset')
  const rest = isFirst ? own : linkQuery(pairs, ['cursor', 'offset'])
  const texts = {
    common,
    self: `"links":[{"href":"${self}${SELF}`,
    beforeCursor: `${common.url}${rest}${rest === '' ? '?' : '&'}cursor=`,
    alternates: (own === '' ? FIRST_ALTERNATES : ALTERNATES).map((alternate) => self + alternate).join(''),
  }
  if (keptPairs.has(pairs)) linksOfQueries.set(pairs, texts)
  return texts
}

function commonText(dataset: Dataset, base: string): CommonText {
  const cached = commonTexts.get(dataset)
  if (cached?.base === base) return cached
  const href = `${base}${ROOT}/collections/${dataset.table}`
  const end = `${href}","rel":"collection","type":"${json.mediaType}","title":${JSON.stringify(dataset.title)}}],"features":[\n`
  const text = { base, url: asBytes(`${href}/items`), end: asBytes(end) }
  commonTexts.set(dataset, text)
  return text
}

function asBytes(text: string): string {
  return Buffer.from(text).toString('latin1')
}
