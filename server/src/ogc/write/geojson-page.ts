import type { FeatureBlock } from '@wayleave/query'
import type { Dataset } from '../../data/catalog/dataset.ts'
import { type Encoding, ITEMS_ENCODINGS, json } from '../request/encodings.ts'
import type { QueryPair } from '../request/query-string.ts'
import { type Link, linkQuery, ROOT } from './links.ts'
import type { PageContent, PageHead, WritePage, WrittenPage } from './page-content.ts'
import { joinFeatures, rewriteFeatures } from './rewrite-features.ts'

/** The end of a page, after the features. */
export const PAGE_TAIL = Buffer.from('\n]}\n')

export function pageHead({ links, returned, matched, timeStamp }: PageHead, more = ''): string {
  const total = matched === null ? '' : `"numberMatched":${matched},`
  return `{"type":"FeatureCollection",${more}${total}"numberReturned":${returned},"timeStamp":"${timeStamp}","links":${JSON.stringify(links)},"features":[\n`
}

/** `next` is the cursor of the next page, or null on the last page. */
export function pageLinks(
  dataset: Dataset,
  base: string,
  pairs: readonly QueryPair[],
  encoding: Encoding,
  next: string | null,
): Link[] {
  const collection = `${base}${ROOT}/collections/${dataset.table}`
  const url = `${collection}/items`
  const links: Link[] = [
    { href: url + linkQuery(pairs, []), rel: 'self', type: encoding.mediaType, title: 'This page' },
  ]
  if (next !== null) {
    links.push({
      href: url + linkQuery(pairs, ['cursor', 'offset'], `cursor=${next}`),
      rel: 'next',
      type: encoding.mediaType,
      title: 'The next page',
    })
  }
  const start = url + linkQuery(pairs, ['f'], 'f=')
  for (const other of ITEMS_ENCODINGS) {
    if (other === encoding) continue
    links.push({
      href: start + other.name,
      rel: 'alternate',
      type: other.mediaType,
      title: `This page as ${other.title}`,
    })
  }
  links.push({ href: collection, rel: 'collection', type: json.mediaType, title: dataset.title })
  return links
}

/** The links of a page whose query is in the body of a POST request. */
export function searchLinks(dataset: Dataset, base: string, encoding: Encoding, next: string | null): Link[] {
  const collection = `${base}${ROOT}/collections/${dataset.table}`
  const href = `${collection}/search`
  const link = { href, type: encoding.mediaType, method: 'POST' } as const
  return [
    { ...link, rel: 'self', title: 'This page' },
    ...(next === null
      ? []
      : [{ ...link, rel: 'next', title: 'The next page', body: { cursor: next }, merge: true } as const]),
    { href: collection, rel: 'collection', type: json.mediaType, title: dataset.title },
  ]
}

/** Writes a page whose features differ from those in the pack. */
export const writeGeojson: WritePage = async (content) => {
  const rewritten = await rewriteContent(content)
  const features = joinFeatures(rewritten, '', ',\n')
  const { count: returned } = rewritten
  const body = features.subarray(0, Math.max(0, features.length - 2))
  return {
    body: Buffer.concat([Buffer.from(pageHead(content.head(returned))), body, PAGE_TAIL]),
    returned,
  }
}

/** Writes newline-delimited GeoJSON: one feature per line and nothing else. */
export const writeNdjson: WritePage = (content) => joined(content, '', '\n')

/** Writes GeoJSON text sequences (RFC 8142): a record separator before each feature. */
export const writeGeojsonSeq: WritePage = (content) => joined(content, '\x1e', '\n')

async function joined(content: PageContent, before: string, after: string): Promise<WrittenPage> {
  const rewritten = await rewriteContent(content)
  return { body: joinFeatures(rewritten, before, after), returned: rewritten.count }
}

function rewriteContent({ manifest, query, block, work, until }: PageContent): Promise<FeatureBlock> {
  return rewriteFeatures(block, manifest, query, work, until)
}
