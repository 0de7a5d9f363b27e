import { extentText } from '@wayleave/contract/extent-text'
import { licenseLink, licenseName } from '@wayleave/contract/licenses'
import { type Content, html } from '../../http/pages/html.ts'
import { timeText } from '../../http/pages/time-text.ts'
import { datasetCards } from '../html/dataset-cards.ts'
import { facts, htmlPage, table } from '../html/layout.ts'
import type { Link } from '../write/links.ts'
import {
  CATALOG_ID,
  type catalog,
  type catalogs,
  RECORDS_ROOT,
  type RecordsPlace,
  type recordOf,
  type recordsLanding,
} from './record-documents.ts'
import type { recordsApi } from './records-api.ts'

type RecordDocument = ReturnType<typeof recordOf>

function page(
  { base, about }: RecordsPlace,
  title: string,
  trail: { href: string; title: string }[],
  links: readonly Link[],
  body: Content,
): string {
  const root = base + RECORDS_ROOT
  const start = { href: `${root}?f=html`, title: 'Records' }
  return htmlPage({ title, trail, base, about, links, body, start })
}

const catalogTrail = (base: string) => [
  { href: `${base}${RECORDS_ROOT}/collections/${CATALOG_ID}?f=html`, title: 'The catalogue' },
]

export function landingHtml(place: RecordsPlace, document: ReturnType<typeof recordsLanding>): string {
  const root = place.base + RECORDS_ROOT
  return page(
    place,
    document.title,
    [],
    document.links,
    html`<p>${document.description}</p>
<ul class="choices">
<li><a href="${root}/collections/${CATALOG_ID}?f=html">The catalogue</a><p class="soft">All datasets, to search by text, place and time.</p></li>
<li><a href="${root}/api?f=html">The API</a><p class="soft">Every address and parameter, described.</p></li>
<li><a href="${root}/conformance?f=html">Conformance</a><p class="soft">The parts of the standard that are supported.</p></li>
</ul>`,
  )
}

export function conformanceHtml(
  place: RecordsPlace,
  { conformsTo, links }: { conformsTo: readonly string[]; links: Link[] },
): string {
  const uris = conformsTo.map((uri) => html`<li><code>${uri}</code></li>`)
  return page(place, 'Conformance', [], links, html`<ul>${uris}</ul>`)
}

export function catalogsHtml(place: RecordsPlace, document: ReturnType<typeof catalogs>): string {
  const rows = document.collections.map(
    ({ id, title, description }) =>
      html`<li><a href="${place.base}${RECORDS_ROOT}/collections/${id}?f=html">${title}</a><p>${description}</p></li>`,
  )
  return page(place, 'Catalogues', [], document.links, html`<ul class="choices">${rows}</ul>`)
}

export function catalogHtml(place: RecordsPlace, document: ReturnType<typeof catalog>): string {
  const url = `${place.base}${RECORDS_ROOT}/collections/${CATALOG_ID}`
  const box = document.extent?.spatial.bbox[0]
  return page(
    place,
    document.title,
    catalogTrail(place.base),
    document.links,
    html`<p>${document.description}</p>
<p><a class="button primary" href="${url}/items?f=html">Look at the records</a></p>
${facts([
  ['Updated', document.updated ? timeText(document.updated) : null],
  ['Extent', box === undefined ? null : extentText(box)],
])}`,
  )
}

export interface RecordPage {
  features: RecordDocument[]
  links: Link[]
  numberMatched: number
  numberReturned: number
}

export function recordsHtml(place: RecordsPlace, document: RecordPage, q: string): string {
  const url = `${place.base}${RECORDS_ROOT}/collections/${CATALOG_ID}/items`
  const next = document.links.find(({ rel }) => rel === 'next')
  const cards = document.features.map(
    ({ id, bbox, properties: { title, description, keywords, updated } }) => ({
      ...{ table: id, href: `${url}/${id}?f=html`, title, description, hasPlaces: bbox !== undefined },
      fact: [timeText(updated.slice(0, 10)), ...keywords].join(' · '),
    }),
  )
  return page(
    place,
    'Records',
    [...catalogTrail(place.base), { href: `${url}?f=html`, title: 'Records' }],
    document.links,
    html`<form class="query" method="get" action="${url}"><input type="hidden" name="f" value="html"><label>Words in titles, descriptions and keywords<input name="q" type="search" value="${q}"></label><button class="button primary">Search</button></form>
${cards.length === 0 ? noRecords(url) : html`<p>${document.numberReturned} of ${document.numberMatched} records</p>${datasetCards(place.base, cards)}`}
${next ? html`<p><a class="button" rel="next" href="${next.href}">Next page</a></p>` : null}`,
  )
}

function noRecords(url: string): Content {
  return html`<p class="note">No record matches. <a href="${url}?f=html">Show all records</a></p>`
}

/** The document names only licenses with an identifier, so the page takes the publisher's words. */
export function recordHtml(place: RecordsPlace, document: RecordDocument, license: string): string {
  const { title, description, keywords, created, updated, formats } = document.properties
  const about = document.links.find(({ rel }) => rel === 'about')
  const url = `${place.base}${RECORDS_ROOT}/collections/${CATALOG_ID}/items/${document.id}?f=html`
  return page(
    place,
    title,
    [...catalogTrail(place.base), { href: url, title }],
    document.links,
    html`<p>${description}</p>
<p><a class="button primary" href="${about!.href}">The dataset’s page</a></p>
${facts([
  ['Keywords', keywords.join(', ')],
  ['License', licenseContent(license)],
  ['Extent', document.bbox === undefined ? null : extentText(document.bbox)],
  ['Time', document.time?.interval.map(timeText).join(' to ') ?? null],
  ['Created', timeText(created)],
  ['Updated', timeText(updated)],
  ['Formats', formats.map(({ name }) => name).join(', ')],
])}`,
  )
}

function licenseContent(license: string): Content {
  const href = licenseLink(license)
  return href === null ? license : html`<a href="${href}">${licenseName(license)}</a>`
}

export function apiHtml(
  place: RecordsPlace,
  document: ReturnType<typeof recordsApi>,
  links: readonly Link[],
): string {
  const sections = Object.entries(document.paths).map(
    ([path, { get }]) => html`<h2><code>GET ${path}</code></h2><p>${get.summary}</p>`,
  )
  const parameters = Object.values(document.components.parameters).map(({ name, description }) => [
    html`<code>${name}</code>`,
    description,
  ])
  return page(
    place,
    'The API',
    [],
    links,
    html`<p>All addresses begin with <code>${document.servers[0]!.url}</code>. No key is needed.</p>${sections}<h2>Parameters</h2>${table(['Name', 'Meaning'], parameters)}`,
  )
}
