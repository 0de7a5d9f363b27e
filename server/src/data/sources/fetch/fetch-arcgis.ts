import { SourceError } from '@wayleave/geodata/compile'
import {
  type FeaturePages,
  type PageFeature,
  PageSize,
  requireComplete,
  writeFeaturePages,
} from './feature-pages.ts'
import type { FetchedSource, FetchOptions } from './fetch-options.ts'
import { getJson, shown, TransientSourceError, withRetries } from './source-http.ts'

/** The list of all object ids: some millions of them. */
const MAX_LIST_BYTES = 64 << 20

interface Layer {
  name?: string
  maxRecordCount?: number
  objectIdField?: string
  fields?: { name: string; type: string }[] | null
  error?: { code?: number; message?: string }
}

interface ObjectIds {
  objectIdFieldName?: string
  objectIds?: number[] | null
}

/**
 * A layer of an ArcGIS FeatureServer. Its object ids are listed first, and pages are ranges of them, so that no
 * feature is left out or repeated, whatever the order of the service.
 */
export async function fetchArcgis(address: string, options: FetchOptions): Promise<FetchedSource> {
  const url = new URL(address)
  url.pathname = url.pathname.replace(/\/+$/, '')
  const layer = await ask<Layer>(url, '', {}, options)
  return writeFeaturePages(pagesOf(url, layer, options), layer.name ?? 'layer', options)
}

async function* pagesOf(url: URL, layer: Layer, options: FetchOptions): FeaturePages {
  const listed = await ask<ObjectIds>(
    url,
    '/query',
    { where: '1=1', returnIdsOnly: 'true' },
    { ...options, documentBytes: MAX_LIST_BYTES },
  )
  const field = listed.objectIdFieldName ?? layer.objectIdField
  if (field === undefined || !/^\w+$/.test(field))
    throw new SourceError(`${shown(url)} does not name its object ids, so its features cannot be listed.`)
  const list = listed.objectIds ?? []
  if (!Array.isArray(list)) throw new SourceError(`${shown(url)} did not respond with a list of object ids.`)
  const ids = Float64Array.from(list).sort()
  const size = new PageSize(layer.maxRecordCount)
  const dates = new Set(
    layer.fields?.filter(({ type }) => type === 'esriFieldTypeDate').map(({ name }) => name),
  )
  for (let at = 0; at < ids.length; ) {
    const page = await size.fit((features) => readPart(url, field, ids.slice(at, at + features), options))
    yield page.map((feature) => withDates(feature, dates))
    at += page.length
  }
}

async function readPart(url: URL, field: string, ids: Float64Array, options: FetchOptions) {
  const where = `${field} >= ${ids[0]} AND ${field} <= ${ids.at(-1)}`
  const parameters = { where, outFields: '*', outSR: '4326', returnGeometry: 'true', orderByFields: field }
  const { features = [] } = await ask<{ features?: PageFeature[] }>(url, '/query', parameters, {
    ...options,
    format: 'geojson',
  })
  requireComplete(features.length, ids.length, `${shown(url)} where ${where}`)
  return features
}

/** Errors of the service have the status 200. */
function ask<T>(
  layer: URL,
  path: string,
  parameters: Record<string, string>,
  { format = 'json', documentBytes, ...options }: FetchOptions & { format?: string; documentBytes?: number },
): Promise<T> {
  const url = new URL(layer)
  url.pathname += path
  for (const [name, value] of Object.entries({ ...parameters, f: format })) url.searchParams.set(name, value)
  return withRetries(options.signal, async () => {
    const body = await getJson<T & Pick<Layer, 'error'>>(url, options, documentBytes)
    if (!body.error) return body
    const { code = 0, message = 'an error' } = body.error
    const text = `${shown(url)} responded with ${message} (${code}).`
    throw code === 429 || code >= 500 ? new TransientSourceError(text) : new SourceError(text)
  })
}

/** Dates are milliseconds since 1970. */
function withDates(feature: PageFeature, dates: ReadonlySet<string>): PageFeature {
  if (dates.size === 0 || !feature.properties) return feature
  const properties = { ...feature.properties }
  for (const name of dates) {
    const value = properties[name]
    if (typeof value === 'number' && !Number.isNaN(new Date(value).getTime()))
      properties[name] = new Date(value).toISOString()
  }
  return { ...feature, properties }
}
