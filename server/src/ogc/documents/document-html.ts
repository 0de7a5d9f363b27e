import { extentText, sidesOf } from '@wayleave/contract/extent-text'
import { UPDATE_WORDS } from '@wayleave/contract/update-frequencies'
import type { Dataset } from '../../data/catalog/dataset.ts'
import { describedColumns } from '../../data/catalog/metadata.ts'
import type { About } from '../../http/about.ts'
import { type Content, html } from '../../http/pages/html.ts'
import { plainText } from '../../http/pages/plain-text.ts'
import { timeText } from '../../http/pages/time-text.ts'
import { datasetCards } from '../html/dataset-cards.ts'
import { collectionTrail, facts, htmlPage, type Place, table } from '../html/layout.ts'
import { featureMap } from '../html/map.ts'
import { ITEMS_ENCODINGS } from '../request/encodings.ts'
import { type Link, ROOT } from '../write/links.ts'
import type { apiDefinition } from './api-definition.ts'
import type { allCollections, CollectionDocument } from './collection.ts'
import type { landingPage } from './landing.ts'
import type { collectionSchema } from './schemas.ts'

const COUNT = new Intl.NumberFormat('en')

export function landingHtml({ base, about }: Place, document: ReturnType<typeof landingPage>) {
  const root = base + ROOT
  const { contact, license, links } = document
  const terms = links.find(({ rel }) => rel === 'terms-of-service')
  return htmlPage({
    title: document.title,
    trail: [],
    base,
    about,
    links: document.links,
    body: html`<p>${document.description}</p>
<ul class="choices">
<li><a href="${root}/collections?f=html">Collections</a><p class="soft">The datasets that your account or your key may read.</p></li>
<li><a href="${root}/api?f=html">The API</a><p class="soft">Every address and parameter, described.</p></li>
<li><a href="${root}/conformance?f=html">Conformance</a><p class="soft">The parts of the standard that are supported.</p></li>
</ul>
<h2>Connect a program</h2>
<p>Every client of OGC API - Features takes this address, with a key in the header <code>X-API-Key</code>, or as the user name of Basic authentication with an empty password.</p>
${facts([
  ['Address', html`<code>${root}</code>`],
  [
    'QGIS',
    'Layer, Add Layer, Add WFS / OGC API - Features Layer, New: the address, and Basic with the key as the user name',
  ],
  ['GDAL', html`<code>GDAL_HTTP_USERPWD='KEY:' ogrinfo OAPIF:${root}</code>`],
  [
    'More',
    html`<a href="${base}/docs/ogc">How to filter, page and count</a>, <a href="${base}/docs/gallery">examples in R, Python and web maps</a>`,
  ],
])}
${facts([
  ['Contact', contact === undefined ? null : contactText(contact)],
  ['License', license ?? null],
  ['Terms', terms === undefined ? null : html`<a href="${terms.href}">${terms.title ?? terms.href}</a>`],
])}`,
  })
}

function contactText({ name, url, email }: NonNullable<About['contact']>): Content {
  const href = url ?? (email === undefined ? undefined : `mailto:${email}`)
  const text = name ?? url ?? email ?? ''
  return href === undefined ? text : html`<a href="${href}">${text}</a>`
}

export function conformanceHtml(
  { base, about }: Place,
  document: { conformsTo: readonly string[]; links: readonly Link[] },
) {
  return htmlPage({
    title: 'Conformance',
    trail: [{ href: `${base}${ROOT}/conformance?f=html`, title: 'Conformance' }],
    base,
    about,
    links: document.links,
    body: html`<p>The classes of the standards that hold here.</p><ul>${document.conformsTo.map(
      (uri) => html`<li><code>${uri}</code></li>`,
    )}</ul>`,
  })
}

export function collectionsHtml({ base, about }: Place, document: ReturnType<typeof allCollections>) {
  const root = `${base}${ROOT}/collections`
  const { collections, links } = document
  return htmlPage({
    title: 'Collections',
    trail: [{ href: `${root}?f=html`, title: 'Collections' }],
    base,
    about,
    links,
    body:
      collections.length === 0
        ? html`<p class="note">You may not read any collection. <a href="${base}/datasets">Look at all datasets</a> and ask for access there.</p>`
        : datasetCards(
            base,
            collections.map(({ id, title, description, itemCount, extent }) => ({
              ...{ table: id, href: `${root}/${id}?f=html`, title, description },
              ...{ hasPlaces: extent?.spatial !== undefined, fact: `${COUNT.format(itemCount)} features` },
            })),
          ),
  })
}

export function collectionHtml({ base, about }: Place, dataset: Dataset, document: CollectionDocument) {
  const { manifest } = dataset
  const url = `${base}${ROOT}/collections/${dataset.table}`
  const box = document.extent?.spatial?.bbox[0]
  return htmlPage({
    title: dataset.title,
    trail: collectionTrail(base, dataset),
    base,
    about,
    links: document.links,
    body: html`<p>${plainText(dataset.description)}</p>
<p class="pages"><a class="button primary" href="${url}/items?f=html">Look at the features</a><a class="button" href="${base}/datasets/${dataset.table}">Explore the dataset</a></p>
${box === undefined ? null : extentMap(box, { title: `Where the features of ${dataset.title} are`, base })}
${facts([
  ['Features', COUNT.format(manifest.rows)],
  ['Geometry', manifest.geometryTypes.join(', ') || (manifest.geometryType ?? 'none')],
  ['Extent', box ? extentText(box) : null],
  ['Time', manifest.timeExtent ? periodText(manifest.timeExtent) : null],
  ['Updated', timeText(dataset.updatedAt)],
  ['License', dataset.license],
  ['Attribution', dataset.attribution],
  ['Contact', dataset.contact],
  ['Citation', dataset.citation],
  ['Updates', UPDATE_WORDS[dataset.updateFrequency] ?? dataset.updateFrequency],
  ['Keywords', dataset.keywords.join(', ')],
  ['Coordinate systems', html`${document.crs.map((uri) => html`<code>${uri}</code><br>`)}`],
  [
    'Features as',
    html`${ITEMS_ENCODINGS.map(
      ({ name, title }, i) => html`${i > 0 ? ', ' : ''}<a href="${url}/items?f=${name}">${title}</a>`,
    )}`,
  ],
])}
<h2>Properties</h2>
${table(
  ['Name', 'Type', 'Unit', 'About', 'Values'],
  describedColumns(dataset).map(({ name, type, nullable, title, description = '', unit = '' }) => [
    html`<code>${name}</code>`,
    type,
    unit,
    title === undefined ? description : html`<b>${title}</b> ${description}`,
    nullable ? 'may be missing' : 'always there',
  ]),
)}
<p><a href="${url}/queryables?f=html">What features can be filtered by</a>, <a href="${url}/sortables?f=html">sorted by</a>, and <a href="${url}/schema?f=html">their schema</a>.</p>`,
  })
}

/** A box that is wider tells nothing: nearly all of the world. */
const MAX_DRAWN_DEGREES = 270

/** Null for a box across the antimeridian, which would be drawn around the other side of the world. */
function extentMap(box: readonly number[], frame: { title: string; base: string }): Content {
  const { west, south, east, north } = sidesOf(box)
  if (west > east || east - west > MAX_DRAWN_DEGREES) return null
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
  return html`<div class="extent">${featureMap({ type: 'Polygon', coordinates: [ring] }, frame)}</div>`
}

export function schemaHtml(
  { base, about }: Place,
  dataset: Dataset,
  kind: string,
  schema: ReturnType<typeof collectionSchema>,
  links: readonly Link[],
) {
  const titles: Record<string, string> = {
    schema: 'Schema',
    queryables: 'What features can be filtered by',
    sortables: 'What features can be sorted by',
  }
  const rows = Object.entries(schema.properties) as [
    string,
    { type?: string | string[]; format?: string; 'x-ogc-role'?: string },
  ][]
  return htmlPage({
    title: `${dataset.title}: ${titles[kind]}`,
    trail: [
      ...collectionTrail(base, dataset),
      { href: `${base}${ROOT}/collections/${dataset.table}/${kind}?f=html`, title: titles[kind]! },
    ],
    base,
    about,
    links,
    body: table(
      ['Name', 'Type', 'Format', 'Role'],
      rows.map(([name, { type, format, 'x-ogc-role': role }]) => [
        html`<code>${name}</code>`,
        Array.isArray(type) ? 'any' : (type ?? ''),
        format ?? '',
        role ?? '',
      ]),
    ),
  })
}

interface Operation {
  summary: string
  parameters: ({ $ref: string } | { name: string; in: string; description?: string })[]
}

export function apiHtml(
  { base, about }: Place,
  document: ReturnType<typeof apiDefinition>,
  links: readonly Link[],
) {
  const shared = document.components.parameters as Record<
    string,
    { name: string; in: string; description?: string }
  >
  const paths = Object.entries(document.paths) as [string, { get: Operation } | { post: Operation }][]
  return htmlPage({
    title: 'The API',
    trail: [{ href: `${base}${ROOT}/api?f=html`, title: 'The API' }],
    base,
    about,
    links,
    body: html`<p>All addresses begin with <code>${document.servers[0]!.url}</code>. Collections and features need an API key, in the header <code>X-API-Key</code> or as Basic authentication.</p>${paths.map(
      ([path, methods]) => {
        const [method, operation] = 'get' in methods ? ['GET', methods.get] : ['POST', methods.post]
        return html`<h2><code>${method} ${path}</code></h2><p>${operation.summary}</p>${table(
          ['Parameter', 'In', 'What it means'],
          operation.parameters.map((parameter) => {
            const resolved = '$ref' in parameter ? shared[parameter.$ref.split('/').at(-1)!]! : parameter
            return [html`<code>${resolved.name}</code>`, resolved.in, withCode(resolved.description ?? '')]
          }),
        )}`
      },
    )}`,
  })
}

function periodText([start, end]: [string, string]): string {
  return start === end ? timeText(start) : `${timeText(start)} to ${timeText(end)}`
}

/** Text between backticks becomes code. */
function withCode(text: string): Content {
  return text.split('`').map((part, i) => (i % 2 === 0 ? part : html`<code>${part}</code>`))
}
