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
  const own = linkQuery(pairs, [])
  const isPlain = !pairs.some(({ name }) => name === 'f' || name === 'cursor' || name === 'offset')
  const join = own === '' ? '?' : '&'
  let text = `[{"href":"${url}${escaped(own)}${SELF}`
  if (next !== null) {
    const cursor = `cursor=${next}`
    const query = isPlain ? own + join + cursor : linkQuery(pairs, ['cursor', 'offset'], cursor)
    text += `,{"href":"${url}${escaped(query)}${NEXT}`
  }
  const start = `,{"href":"${url}${escaped(isPlain ? `${own}${join}f=` : linkQuery(pairs, ['f'], 'f='))}`
  for (const end of ALTERNATES) text += start + end
  return `${text},{"href":"${collection}","rel":"collection","type":"${json.mediaType}","title":${JSON.stringify(title)}}]`
}

function escaped(text: string): string {
  return PLAIN.test(text) ? text : JSON.stringify(text).slice(1, -1)
}
