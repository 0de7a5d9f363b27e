import { jsonText } from '@wayleave/geodata/features'
import type { Value } from '@wayleave/geodata/geometry'
import { type Manifest, queryColumn } from '@wayleave/geodata/snapshot'
import { type Content, type Html, html } from '../../http/pages/html.ts'
import { timeText } from '../../http/pages/time-text.ts'
import { ITEMS_PARAMETERS } from '../request/items-query.ts'
import type { QueryPair } from '../request/query-string.ts'
import { isSortable } from '../request/sort-keys.ts'
import { linkQuery } from '../write/links.ts'
import { headCell } from './layout.ts'

type Column = Manifest['columns'][number]

/** A page of other features, or in another order, begins anew. */
const PLACE = ['cursor', 'offset']
/** A longer value is rarely one that many rows have. */
const MAX_LINKED = 80

/** The heads of the columns: a click sorts by one, a second click the other way round, a third one not at all. */
export function sortHeads(columns: readonly Column[], pairs: readonly QueryPair[]): Html[] {
  const sorted = pairs.find(({ name }) => name === 'sortby')?.value
  return columns.map(({ name, type }) => {
    if (!isSortable(type)) return headCell(name)
    const [up, down] = [sortText(name, ''), sortText(name, '-')]
    const next = sorted === up ? down : sorted === down ? null : up
    const query = linkQuery(pairs, [...PLACE, 'sortby'], next === null ? '' : pair('sortby', next))
    const mark = sorted === up ? ' ↑' : sorted === down ? ' ↓' : ''
    const state = sorted === up ? 'ascending' : sorted === down ? 'descending' : null
    return headCell(
      html`<a href="${query || '?f=html'}" title="Sort by ${name}">${name}${mark}</a>`,
      state,
      isNumber(type),
    )
  })
}

export function isNumber(type: Column['type']): boolean {
  return type === 'number' || type === 'integer'
}

/** A name with a comma, a sign or a bracket would be read as something else than a name. */
function sortText(name: string, sign: '' | '-'): string {
  return /^[\s[+-]|,|\s$/.test(name) ? JSON.stringify([sign + name]) : sign + name
}

/** The cells of a column. Values that repeat lead to the rows that have them. */
export function cellWriter(
  { name, type }: Column,
  { statistics, rows }: Pick<Manifest, 'statistics' | 'rows'>,
  pairs: readonly QueryPair[],
): (value: Value | undefined) => Content {
  const known = statistics?.[name]
  const repeats = known !== undefined && known.distinct > 1 && known.distinct <= (rows - known.nulls) / 2
  if (!repeats || !isSortable(type) || isParameter(name)) return (value) => cellText(value, type)
  const query = linkQuery(pairs, [...PLACE, name], pair(name, ''))
  return (value) => {
    const content = cellText(value, type)
    if (value === null || value === undefined || typeof value === 'object') return content
    const text = String(value)
    if (text === '' || text.length > MAX_LINKED) return content
    return html`<a class="value" href="${query + encodeURIComponent(text)}">${content}</a>`
  }
}

/** What the address filters by single values, each with a link that ends it. */
export function valueChips(manifest: Manifest, pairs: readonly QueryPair[]): Content {
  const filters = pairs.filter(({ name }) => !isParameter(name) && queryColumn(manifest, name) !== undefined)
  if (filters.length === 0) return null
  return html`<p class="chips"><span>Only</span>${filters.map(({ name, value }) => {
    const rest = linkQuery(
      pairs.filter((one) => one.name !== name || one.value !== value),
      PLACE,
    )
    return html`<a class="chip" href="${rest || '?f=html'}" aria-label="Remove ${name}: ${value}">${name}: ${value} <span aria-hidden="true">×</span></a>`
  })}</p>`
}

/** What the address has and the form has no field for stays when the form is sent. */
export function keptFields(pairs: readonly QueryPair[], fields: readonly string[]): Html[] {
  return pairs
    .filter(({ name }) => !fields.includes(name) && !PLACE.includes(name))
    .map(({ name, value }) => html`<input type="hidden" name="${name}" value="${value}">`)
}

function isParameter(name: string): boolean {
  return (ITEMS_PARAMETERS as readonly string[]).includes(name)
}

function pair(name: string, value: string): string {
  return `${encodeURIComponent(name)}=${encodeURIComponent(value)}`
}

/** Times are written as people read them; the exact value appears on hover. */
function cellText(value: Value | undefined, type: string | undefined): Content {
  if (value === null || value === undefined) return null
  if ((type === 'timestamp' || type === 'date') && typeof value === 'string')
    return html`<time datetime="${value}" title="${value}">${timeText(value)}</time>`
  if (typeof value === 'object') return html`<code>${jsonText(value)}</code>`
  return String(value)
}

const WEB_ADDRESS = /^https?:\/\/\S+$/

/** A value on the page of its feature: with its unit, and as a link if it is an address. */
export function factText(value: Value | undefined, type: string | undefined, unit: string): Content {
  if (typeof value === 'string' && WEB_ADDRESS.test(value))
    return html`<a href="${value}" rel="nofollow noreferrer">${value}</a>`
  const content = cellText(value, type)
  return unit === '' || content === null ? content : html`${content} ${unit}`
}
