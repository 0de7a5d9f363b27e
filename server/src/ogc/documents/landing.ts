import type { About } from '../../http/about.ts'
import { DOCUMENT_ENCODINGS, type Encoding, html, json, openApi } from '../request/encodings.ts'
import type { QueryPair } from '../request/query-string.ts'
import { TILING_SCHEMES } from '../tiles/tileset-documents.ts'
import { type Link, ROOT, selfAndAlternates } from '../write/links.ts'

export function landingPage(
  base: string,
  pairs: readonly QueryPair[],
  encoding: Encoding,
  { title, description, contact, termsUrl, license }: About,
) {
  const root = base + ROOT
  return {
    title,
    description,
    ...(contact === null ? {} : { contact }),
    ...(license === null ? {} : { license: license.name }),
    links: [
      ...selfAndAlternates(root, pairs, DOCUMENT_ENCODINGS, encoding),
      { href: `${root}/api`, rel: 'service-desc', type: openApi.mediaType, title: 'The API definition' },
      { href: `${root}/api?f=html`, rel: 'service-doc', type: html.mediaType, title: 'The API, described' },
      { href: `${root}/conformance`, rel: 'conformance', type: json.mediaType, title: 'What is supported' },
      {
        href: `${root}/conformance`,
        rel: 'http://www.opengis.net/def/rel/ogc/1.0/conformance',
        type: json.mediaType,
        title: 'What is supported',
      },
      {
        href: `${root}/tileMatrixSets`,
        rel: TILING_SCHEMES,
        type: json.mediaType,
        title: 'The tile matrix sets',
      },
      { href: `${root}/collections`, rel: 'data', type: json.mediaType, title: 'The collections' },
      {
        href: `${root}/collections`,
        rel: 'http://www.opengis.net/def/rel/ogc/1.0/data',
        type: json.mediaType,
        title: 'The collections',
      },
      {
        href: `${base}/v1/records/collections/datasets`,
        rel: 'http://www.opengis.net/def/rel/ogc/1.0/ogc-catalog',
        type: 'application/ogc-catalog+json',
        title: 'The catalogue of datasets, by OGC API - Records',
      },
      ...outsideLink('terms-of-service', termsUrl, 'The terms of use'),
      ...outsideLink('license', license?.url ?? null, 'The license of the data'),
    ],
  }
}

/** A link to a page of the operator. */
function outsideLink(rel: string, href: string | null, title: string): Link[] {
  return href === null ? [] : [{ href, rel, type: html.mediaType, title }]
}

export function conformanceDeclaration(
  base: string,
  pairs: readonly QueryPair[],
  encoding: Encoding,
  conformsTo: readonly string[],
) {
  return {
    conformsTo,
    links: selfAndAlternates(`${base}${ROOT}/conformance`, pairs, DOCUMENT_ENCODINGS, encoding),
  }
}
