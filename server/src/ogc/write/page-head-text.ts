import type { Dataset } from '../../data/catalog/dataset.ts'
import { geojson, ITEMS_ENCODINGS, json } from '../request/encodings.ts'
import type { QueryPair } from '../request/query-string.ts'
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
  const own = linkQuery(pairs, [])
  const { url, end } = commonText(dataset, base)
  // Testing a text also joins its parts in memory, which is done once here instead of once for each link.
  const self = url + own
  if (!PLAIN.test(self) || pairs.some(({ name }) => name === 'f')) {
    const links = pageLinks(dataset, base, pairs, geojson, next)
    return asBytes(pageHead({ links, returned, matched, timeStamp }))
  }
  const total = matched === null ? '' : `"numberMatched":${matched},`
  let text = `{"type":"FeatureCollection",${total}"numberReturned":${returned},"timeStamp":"${timeStamp}","links":[{"href":"${self}${SELF}`
  if (next !== null) {
    const isFirst = !pairs.some(({ name }) => name === 'cursor' || name === 'offset')
    const rest = isFirst ? own : linkQuery(pairs, ['cursor', 'offset'])
    text += `${url}${rest}${rest === '' ? '?' : '&'}cursor=${next}${NEXT}`
  }
  for (const alternate of own === '' ? FIRST_ALTERNATES : ALTERNATES) text += self + alternate
  return text + end
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
