import type { Dataset } from '../catalog/dataset.ts'
import { geojson, ITEMS_ENCODINGS, json } from './encodings.ts'
import { pageHead, pageLinks } from './geojson-page.ts'
import { linkQuery, ROOT } from './links.ts'
import type { PageHead } from './page-content.ts'
import type { QueryPair } from './query-string.ts'

/** What stands between the addresses of the links, which alone differ from page to page. */
const SELF = Buffer.from(`","rel":"self","type":"${geojson.mediaType}","title":"This page"},{"href":"`)
const NEXT = Buffer.from(`","rel":"next","type":"${geojson.mediaType}","title":"The next page"},{"href":"`)
const alternates = (join: '?' | '&') =>
  ITEMS_ENCODINGS.filter((encoding) => encoding !== geojson).map(({ name, mediaType, title }) =>
    Buffer.from(
      `${join}f=${name}","rel":"alternate","type":"${mediaType}","title":"This page as ${title}"},{"href":"`,
    ),
  )
const FIRST_ALTERNATES = alternates('?')
const ALTERNATES = alternates('&')
const CONSTANT_BYTES = 512 + [SELF, NEXT, ...ALTERNATES].reduce((sum, bytes) => sum + bytes.length, 0)

/** Neither a quote nor a backslash, and nothing that takes more than a byte. */
const PLAIN = /^[ !#-[\]-~]*$/

const ends = new WeakMap<Dataset, { base: string; bytes: Buffer }>()

export interface GeojsonHead extends Omit<PageHead, 'links'> {
  dataset: Dataset
  base: string
  pairs: readonly QueryPair[]
  /** The cursor of the following page; null on the last. */
  next: string | null
}

/** How many bytes `putPageHead` needs at most. */
export function pageHeadBound({ dataset, base, pairs }: GeojsonHead): number {
  let query = 64
  for (const { raw } of pairs) query += raw.length + 1
  const address = base.length + ROOT.length + dataset.table.length + query
  return CONSTANT_BYTES + (ALTERNATES.length + 3) * address * 6 + dataset.title.length * 6
}

/**
 * Puts the head of a GeoJSON page into `target` from `begin` on and answers where it ends. Every page has it,
 * whatever its size: the address is written once and copied for the other links.
 */
export function putPageHead(head: GeojsonHead, target: Buffer, begin = 0): number {
  const { dataset, base, pairs, next, returned, matched, timeStamp } = head
  const own = linkQuery(pairs, [])
  if (!PLAIN.test(own) || pairs.some(({ name }) => name === 'f')) {
    const links = pageLinks(dataset, base, pairs, geojson, next)
    return begin + target.write(pageHead({ links, returned, matched, timeStamp }), begin)
  }
  const total = matched === null ? '' : `"numberMatched":${matched},`
  const start = `{"type":"FeatureCollection",${total}"numberReturned":${returned},"timeStamp":"${timeStamp}","links":[{"href":"`
  const from = begin + target.write(start, begin, 'latin1')
  const url = `${base}${ROOT}/collections/${dataset.table}/items`
  const to = from + target.write(url + own, from, 'latin1')
  let at = to + SELF.copy(target, to)
  if (next !== null) {
    const isFirst = !pairs.some(({ name }) => name === 'cursor' || name === 'offset')
    const rest = isFirst ? own : linkQuery(pairs, ['cursor', 'offset'])
    at += target.write(`${url}${rest}${rest === '' ? '?' : '&'}cursor=${next}`, at, 'latin1')
    at += NEXT.copy(target, at)
  }
  for (const alternate of own === '' ? FIRST_ALTERNATES : ALTERNATES) {
    at += target.copy(target, at, from, to)
    at += alternate.copy(target, at)
  }
  return at + endOf(dataset, base).copy(target, at)
}

/** From the address of the collection to the first feature. */
function endOf(dataset: Dataset, base: string): Buffer {
  const known = ends.get(dataset)
  if (known?.base === base) return known.bytes
  const href = `${base}${ROOT}/collections/${dataset.table}`
  const bytes = Buffer.from(
    `${href}","rel":"collection","type":"${json.mediaType}","title":${JSON.stringify(dataset.title)}}],"features":[\n`,
  )
  ends.set(dataset, { base, bytes })
  return bytes
}
