import type { Dataset } from '../catalog/dataset.ts'
import { geojson, ITEMS_ENCODINGS, json } from './encodings.ts'
import { linkQuery, ROOT } from './links.ts'
import type { QueryPair } from './query-string.ts'

/** The end of each alternate link, after the address up to `f=`. */
const ALTERNATES = ITEMS_ENCODINGS.filter((encoding) => encoding !== geojson).map(
  ({ name, mediaType, title }) =>
    `${name}","rel":"alternate","type":"${mediaType}","title":"This page as ${title}"}`,
)
const SELF = `","rel":"self","type":"${geojson.mediaType}","title":"This page"}`
const NEXT = `","rel":"next","type":"${geojson.mediaType}","title":"The next page"}`
const PLAIN = /^[ !#-[\]-~]*$/

/** What `pageLinks` gives for GeoJSON, as JSON, made from texts: every page has it, whatever its size. */
export function pageLinksText(
  { table, title }: Dataset,
  base: string,
  pairs: readonly QueryPair[],
  next: string | null,
): string {
  const collection = `${base}${ROOT}/collections/${table}`
  const url = `${collection}/items`
  const own = escaped(linkQuery(pairs, []))
  let text = `[{"href":"${url}${own}${SELF}`
  if (next !== null) {
    text += `,{"href":"${url}${escaped(linkQuery(pairs, ['cursor', 'offset'], `cursor=${next}`))}${NEXT}`
  }
  const start = `,{"href":"${url}${escaped(linkQuery(pairs, ['f'], 'f='))}`
  for (const end of ALTERNATES) text += start + end
  return `${text},{"href":"${collection}","rel":"collection","type":"${json.mediaType}","title":${JSON.stringify(title)}}]`
}

function escaped(text: string): string {
  return PLAIN.test(text) ? text : JSON.stringify(text).slice(1, -1)
}
