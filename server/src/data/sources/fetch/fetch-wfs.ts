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
import { getJson, getText, shown } from './source-http.ts'

const JSON_FORMATS = [/^application\/geo\+json/i, /^application\/json/i, /geojson/i, /^json$/i]
const CRS84 = /urn:ogc:def:crs:OGC:(1\.3)?:CRS84/

interface WfsLayer {
  typeName: string
  outputFormat: string
  srsName: string
}

/**
 * A feature type of a WFS 2.0, page by page. The service must offer GeoJSON; longitude and latitude are asked for in
 * this order.
 */
export async function fetchWfs(address: string, options: FetchOptions): Promise<FetchedSource> {
  const url = new URL(address)
  const typeName = parameterOf(url, 'typeNames') ?? parameterOf(url, 'typeName')
  if (!typeName)
    throw new SourceError(
      'The address of a WFS needs the parameter typeNames with the name of a feature type.',
    )
  const layer = await describe(url, typeName, options)
  const name = typeName.replace(/^.*:/, '')
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
        outputFormat: layer.outputFormat,
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
  if (!/<(\w+:)?WFS_Capabilities\b/.test(text))
    throw new SourceError(`${shown(url)} did not respond with the capabilities of a WFS.`)
  const operation =
    /<(\w+:)?Operation\s[^>]*name="GetFeature"[\s\S]*?<\/(\w+:)?Operation>/.exec(text)?.[0] ?? ''
  const formats = Array.from(operation.matchAll(/<(?:\w+:)?Value>\s*([^<]+?)\s*<\//g), ([, value]) =>
    unescaped(value!),
  )
  const outputFormat = JSON_FORMATS.map((pattern) => formats.find((format) => pattern.test(format))).find(
    Boolean,
  )
  if (!outputFormat)
    throw new SourceError(`${shown(url)} offers no GeoJSON. Save its GML as a file and publish that.`)
  const types = text.match(/<(?:\w+:)?FeatureType\b[\s\S]*?<\/(?:\w+:)?FeatureType>/g) ?? []
  const nameOf = (type: string) => /<(?:\w+:)?Name>\s*([^<]+?)\s*<\//.exec(type)?.[1]
  const type = types.find((one) => nameOf(one) === typeName || nameOf(one)?.replace(/^.*:/, '') === typeName)
  if (!type) {
    const names = types.map(nameOf).filter(Boolean).slice(0, 20).join(', ')
    throw new SourceError(`${shown(url)} has no feature type ${typeName}. It has: ${names}.`)
  }
  // Where a service knows CRS84, its axes are certain; GeoJSON in EPSG:4326 is longitude first in practice.
  return { typeName: nameOf(type)!, outputFormat, srsName: CRS84.exec(type)?.[0] ?? 'EPSG:4326' }
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

function unescaped(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
}
