import assert from 'node:assert/strict'
import { type Answer, type Api, Skipped } from './suite.ts'

/** The parts of the standard's documents that the tests check. */

export type Position = number[]

export type Geometry =
  | { type: 'Point'; coordinates: Position }
  | { type: 'MultiPoint' | 'LineString'; coordinates: Position[] }
  | { type: 'MultiLineString' | 'Polygon'; coordinates: Position[][] }
  | { type: 'MultiPolygon'; coordinates: Position[][][] }
  | { type: 'GeometryCollection'; geometries: Geometry[] }

export interface Link {
  href: string
  rel: string
  type: string
}

export interface Collection {
  id: string
  title: string
  description: string
  extent?: { spatial?: { bbox: number[][] }; temporal?: { interval: (string | null)[][] } }
  crs: string[]
  storageCrs?: string
  links: Link[]
}

export interface Feature {
  id: string | number
  geometry: Geometry | null
  properties: Record<string, unknown>
  links: Link[]
}

export interface Page {
  type: string
  features: Feature[]
  links: Link[]
  timeStamp?: string
  numberMatched?: number
  numberReturned?: number
}

export interface Parameter {
  name: string
  in: string
  required?: boolean
  style: string
  explode: boolean
  schema: {
    type: string
    minimum?: number
    maximum?: number
    default?: number
    minItems?: number
    maxItems?: number
    items?: { type: string }
  }
}

interface Operation {
  operationId: string
  parameters: object[]
  responses: object
}

export interface Definition {
  openapi: string
  servers: { url: string }[]
  /** A path has one operation. */
  paths: Record<string, Partial<Record<'get' | 'post', Operation>>>
  components: { parameters: Record<string, Parameter> }
}

export const GEOJSON = 'application/geo+json'
const MAX_PAGES = 1000

/** The document at a path, which must exist. */
export async function read<T>(api: Api, path: string, accept?: string): Promise<T> {
  const response = await api.get(path, accept)
  assert.equal(response.status, 200, `${response.url} responds ${response.status}`)
  return response.body as T
}

export function linksOf(links: readonly Link[], rel: string): Link[] {
  return links.filter((link) => link.rel === rel)
}

/** Expects a `self` link, an `alternate` for each other encoding, and `rel` and `type` on all links. */
export function checkLinks(links: readonly Link[], encodings: readonly string[]): void {
  const [self] = linksOf(links, 'self')
  assert.ok(self, 'has a link "self"')
  for (const { href, rel, type } of links) assert.ok(href && rel && type, `"${href}" has rel and type`)
  const alternates = linksOf(links, 'alternate').map(({ type }) => type)
  for (const type of encodings)
    if (type !== self.type) assert.ok(alternates.includes(type), `has ${type} too`)
}

/** The URL of a collection's features as GeoJSON. */
function itemsUrl({ id, links }: Collection): URL {
  const link = linksOf(links, 'items').find(({ type }) => type === GEOJSON)
  if (!link) throw new Skipped(`The collection ${id} offers no GeoJSON.`)
  const url = new URL(link.href)
  url.search = ''
  return url
}

export function ask(collection: Collection, parameters: Record<string, string | number>): string {
  const url = itemsUrl(collection)
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, String(value))
  return url.href
}

export async function page(api: Api, collection: Collection, parameters: Record<string, string | number>) {
  return read<Page>(api, ask(collection, parameters), GEOJSON)
}

/** All features of a query, page by page. */
export async function readAll(
  api: Api,
  collection: Collection,
  parameters: Record<string, string | number>,
): Promise<Feature[]> {
  const all: Feature[] = []
  let next: string | undefined = ask(collection, parameters)
  for (let pages = 0; next !== undefined; pages++) {
    assert.ok(pages < MAX_PAGES, `ends within ${MAX_PAGES} pages`)
    const one: Page = await read<Page>(api, next, GEOJSON)
    all.push(...one.features)
    next = linksOf(one.links, 'next')[0]?.href
  }
  return all
}

export async function refused(api: Api, path: string): Promise<Answer> {
  const response = await api.get(path, GEOJSON)
  assert.equal(response.status, 400, `${response.url} responds ${response.status}`)
  return response
}

export function idsOf(features: readonly Feature[]): string[] {
  return features.map(({ id }) => String(id)).sort()
}
