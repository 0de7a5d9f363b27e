import { SourceError } from '@wayleave/geodata/compile'
import { parameterOf } from '../source-address.ts'
import {
  type FeaturePages,
  type PageFeature,
  PageSize,
  requireComplete,
  writeFeaturePages,
} from './feature-pages.ts'
import type { FetchedSource, FetchOptions } from './fetch-options.ts'
import { fetchWfsGml } from './fetch-wfs-gml.ts'
import { getJson, getText, shown } from './source-http.ts'
import { readCapabilities } from './wfs-capabilities.ts'

const JSON_FORMATS = [/^application\/geo\+json/i, /^application\/json/i, /geojson/i, /^json$/i]

interface WfsLayer {
  typeName: string
  /** Null if the service offers GML only. */
  outputFormat: string | null
  srsName: string
}

/**
 * A feature type of a WFS 2.0: as GeoJSON, page by page, with longitude and latitude in this order. A service without
 * GeoJSON must send all features at a time as GML.
 */
export async function fetchWfs(address: string, options: FetchOptions): Promise<FetchedSource> {
  const url = new URL(address)
  const typeName = parameterOf(url, 'typeNames') ?? parameterOf(url, 'typeName')
  if (!typeName)
    throw new SourceError(
      'The address of a WFS needs the parameter typeNames with the name of a feature type.',
    )
  const layer = await describe(url, typeName, options)
  if (layer.outputFormat === null) {
    const all = requestUrl(url, 'GetFeature', { typeNames: layer.typeName })
    const expected = await countOf(url, layer, options)
    return fetchWfsGml(all, { typeName: layer.typeName, expected }, options)
  }
  const name = localName(typeName)
  return writeFeaturePages(pagesOf(url, layer, options), name, options)
}

async function* pagesOf(url: URL, layer: WfsLayer, options: FetchOptions): FeaturePages {
  const expected = await countOf(url, layer, options)
  const size = new PageSize()
  const ids = new Set<string>()
  let received = 0
  while (received < expected) {
    const pageUrl = (count: number) =>
      requestUrl(url, 'GetFeature', {
        typeNames: layer.typeName,
        outputFormat: layer.outputFormat!,
        srsName: layer.srsName,
        count: String(count),
        startIndex: String(received),
      })
    const page = await size.fit((count) => getJson<{ features?: PageFeature[] }>(pageUrl(count), options))
    if (!Array.isArray(page.features)) throw new SourceError(`${shown(url)} did not respond with GeoJSON.`)
    if (page.features.length === 0) break
    for (const { id } of page.features) {
      if (id === undefined) continue
      // Pages of a service without a fixed order may repeat some features and leave out others.
      if (ids.has(String(id)))
        throw new SourceError(
          `${layer.typeName}: the feature ${id} is on two pages, so others may be missing.`,
        )
      ids.add(String(id))
    }
    received += page.features.length
    yield page.features
  }
  requireComplete(received, expected, layer.typeName)
}

async function describe(url: URL, typeName: string, options: FetchOptions): Promise<WfsLayer> {
  const text = await getText(requestUrl(url, 'GetCapabilities', {}), options, 'application/xml, text/xml')
  const capabilities = readCapabilities(text)
  if (!capabilities) throw new SourceError(`${shown(url)} did not respond with the capabilities of a WFS.`)
  const { formats, types } = capabilities
  const outputFormat = JSON_FORMATS.map((pattern) => formats.find((format) => pattern.test(format))).find(
    Boolean,
  )
  const type = types.find(({ name }) => name === typeName || localName(name) === typeName)
  if (!type) {
    const names = types.slice(0, 20).map(({ name }) => name.slice(0, 100))
    throw new SourceError(`${shown(url)} has no feature type ${typeName}. It has: ${names.join(', ')}.`)
  }
  // Where a service knows CRS84, its axes are certain; GeoJSON in EPSG:4326 is longitude first in practice.
  return {
    typeName: type.name,
    outputFormat: outputFormat ?? null,
    srsName: type.crs84 ?? 'EPSG:4326',
  }
}

function localName(name: string): string {
  return name.slice(name.lastIndexOf(':') + 1)
}

async function countOf(url: URL, { typeName }: WfsLayer, options: FetchOptions): Promise<number> {
  const hits = requestUrl(url, 'GetFeature', { typeNames: typeName, resultType: 'hits' })
  const text = await getText(hits, options, 'application/xml, text/xml')
  const count = /\bnumberMatched="(\d+)"/.exec(text)?.[1]
  if (count === undefined) throw new SourceError(`${shown(url)} does not say how many features it has.`)
  return Number(count)
}

/** The address with the parameters of the request; others, such as a key, are kept. */
function requestUrl(base: URL, request: string, parameters: Record<string, string>): URL {
  const own = { service: 'WFS', version: '2.0.0', request, ...parameters }
  const replaced = new Set(
    [...Object.keys(own), 'typeName', 'typeNames', 'outputFormat', 'count', 'startIndex', 'maxFeatures'].map(
      (name) => name.toLowerCase(),
    ),
  )
  const url = new URL(base)
  url.search = ''
  for (const [name, value] of base.searchParams)
    if (!replaced.has(name.toLowerCase())) url.searchParams.append(name, value)
  for (const [name, value] of Object.entries(own)) url.searchParams.set(name, value)
  return url
}
