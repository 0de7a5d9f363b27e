import type { Geometry } from '@wayleave/geodata/geometry'
import type { Manifest } from '@wayleave/geodata/snapshot'
import { PageBytes, type ParsedFeature, parseFeature } from '@wayleave/query'
import type { Dataset } from '../../data/catalog/dataset.ts'
import { describedColumns } from '../../data/catalog/metadata.ts'
import { type Content, Html, html } from '../../http/pages/html.ts'
import type { QueryPair } from '../request/query-string.ts'
import { type Link, linkQuery, ROOT } from '../write/links.ts'
import type { WritePage } from '../write/page-content.ts'
import { collectionTrail, facts, headCell, htmlPage, type Place, tableOf, tableRow } from './layout.ts'
import { featureMap, featuresMap } from './map.ts'
import { cellWriter, factText, isNumber, keptFields, sortHeads, valueChips } from './rows-table.ts'

const COUNT = new Intl.NumberFormat('en')

/** A page of features as HTML: a map, a table, and links to other pages. */
export const writeItemsHtml: WritePage = async (content) => {
  const { dataset, manifest, base, about, query, block, work, until } = content
  const url = `${base}${ROOT}/collections/${dataset.table}/items`
  const columns = (query.shown ?? manifest.columns.map((_, i) => i)).map((i) => manifest.columns[i]!)
  const shapes: Geometry[] = []
  const rows = new PageBytes(block.bytes.length)
  const writers = columns.map((column) => cellWriter(column, manifest, query.pairs))
  // The id of each feature is before them.
  const areNumbers = [false, ...columns.map(({ type }) => isNumber(type))]
  const writeRow = (i: number) => {
    const { id, properties, geometry } = parseFeature(block.bytes, block.starts[i], block.ends[i])
    if (geometry !== null) shapes.push(geometry)
    const cells = [
      html`<a href="${url}/${encodeURIComponent(String(id))}?f=html">${String(id)}</a>`,
      ...columns.map(({ name }, i) => writers[i]!(properties[name])),
    ]
    const row = tableRow(cells, areNumbers)
    rows.text(row.text)
  }
  const returned = await work.each(block.count, writeRow, until)
  const head = content.head(returned)
  const next = head.links.find(({ rel }) => rel === 'next')
  // The first page of the same query, not of the whole dataset.
  const first = url + linkQuery(query.pairs, ['cursor', 'offset'])
  const parameterValue = (name: string) => query.pairs.find((pair) => pair.name === name)?.value ?? ''
  const map = await featuresMap(
    shapes,
    { title: `A map of ${returned} features of ${dataset.title}`, base },
    work,
  )
  const of = head.matched === null ? '' : ` of ${COUNT.format(head.matched)}`
  const around = htmlPage({
    title: `${dataset.title}: features`,
    trail: [...collectionTrail(base, dataset), { href: `${url}?f=html`, title: 'Features' }],
    base,
    about,
    links: head.links,
    body: html`${queryForm(url, manifest, query.pairs, parameterValue)}
${valueChips(manifest, query.pairs)}
${head.returned === 0 ? noFeatures(url) : null}
<p class="pages"><span>${COUNT.format(head.returned)}${of} features</span>${pageLinks(next, query.cursor !== null || query.offset > 0, first)}</p>
<div class="${map ? 'split' : ''}">${new Html(MAP)}
<div class="rows">${tableOf([headCell('id'), ...sortHeads(columns, query.pairs)], [new Html(ROWS)])}</div></div>
<p class="pages">${pageLinks(next, false, first)}</p>`,
  })
  const page = new PageBytes(rows.length + (map?.text.length ?? 0) + around.length * 2)
  const [before, rest] = around.split(MAP) as [string, string]
  const [between, after] = rest.split(ROWS) as [string, string]
  page.text(before + (map?.text ?? '') + between)
  page.copy(rows.all())
  page.text(after)
  return { body: page.all(), returned }
}

/**
 * Placeholders for the long parts, which are inserted at the end. Text inserted into a page is escaped and
 * contains no `<`.
 */
const MAP = '<!--map-->'
const ROWS = '<!--rows-->'

const FORM_FIELDS = ['f', 'bbox', 'datetime', 'filter', 'sortby']

/**
 * A form with the filters that apply to the dataset: a bbox if features have geometries, a time if they have
 * one.
 */
function queryForm(
  url: string,
  manifest: Manifest,
  pairs: readonly QueryPair[],
  parameterValue: (name: string) => string,
): Html {
  const field = (label: string, name: string, example: string) =>
    html`<label>${label}<input name="${name}" value="${parameterValue(name)}" placeholder="${example}"></label>\n`
  const days = (manifest.timeExtent ?? ['2025-01-01', '2025-12-31']).map((end) => end.slice(0, 10))
  return html`<form class="query" method="get" action="${url}">
<input type="hidden" name="f" value="html">${keptFields(pairs, FORM_FIELDS)}
${manifest.geometryType === null ? null : field('West, south, east, north', 'bbox', '-10,35,30,60')}
${manifest.timeColumn === null ? null : field('Day, or first/last', 'datetime', days.join('/'))}
${field('Filter in CQL2', 'filter', filterExample(manifest))}
${sortField(manifest, parameterValue('sortby'))}
<button class="button primary">Show</button>
</form>`
}

/** A condition on the first column that people would filter by, which some features meet and others do not. */
function filterExample({ columns, statistics }: Manifest): string {
  const first = (...types: string[]) =>
    columns.find(({ name, type }) => types.includes(type) && /^\w+$/.test(name))
  const number = first('number', 'integer')
  if (number) return `${number.name} > ${Number((statistics?.[number.name]?.mean ?? 10).toPrecision(2))}`
  const text = first('text')
  return text ? `${text.name} LIKE 'A%'` : ''
}

/** Every column in both directions. An order that the address has and the list has not, such as by two columns, stays. */
function sortField({ columns }: Manifest, sorted: string): Html {
  const names = columns.filter(({ type }) => type !== 'json').map(({ name }) => name)
  const choices = names.flatMap((name) => [
    { value: name, text: `${name}, ascending` },
    { value: `-${name}`, text: `${name}, descending` },
  ])
  const isListed = sorted === '' || choices.some(({ value }) => value === sorted)
  const options = [...(isListed ? [] : [{ value: sorted, text: sorted }]), ...choices].map(
    ({ value, text }) =>
      html`<option value="${value}"${value === sorted ? html` selected` : null}>${text}</option>`,
  )
  return html`<label>Sort by<select name="sortby"><option value="">the order of the dataset</option>${options}</select></label>
`
}

function noFeatures(url: string): Html {
  return html`<p class="note">No feature matches. <a href="${url}?f=html">Show all features</a></p>`
}

function pageLinks(next: Link | undefined, isLater: boolean, first: string): Content {
  return [
    isLater ? html`<a href="${first}">First page</a>` : null,
    next ? html`<a class="button" rel="next" href="${next.href}">Next page</a>` : null,
  ]
}

export function itemHtml(
  { base, about }: Place,
  dataset: Dataset,
  feature: ParsedFeature,
  links: readonly Link[],
): string {
  const url = `${base}${ROOT}/collections/${dataset.table}/items`
  const id = String(feature.id)
  const columns = new Map(describedColumns(dataset).map((column) => [column.name, column]))
  const rows = Object.entries(feature.properties).map(([name, value]): [string, Content] => {
    const { type, unit = '' } = columns.get(name) ?? {}
    return [name, factText(value, type, unit)]
  })
  return htmlPage({
    title: `${dataset.title}: ${id}`,
    trail: [
      ...collectionTrail(base, dataset),
      { href: `${url}?f=html`, title: 'Features' },
      { href: `${url}/${encodeURIComponent(id)}?f=html`, title: id },
    ],
    base,
    about,
    links,
    body: html`${feature.geometry && featureMap(feature.geometry, { title: `A map of ${id}`, base })}
${facts(rows)}`,
  })
}
