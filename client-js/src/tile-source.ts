import { filterParameters, type ItemsOptions } from './items.ts'
import type { Receipt } from './response-info.ts'
import { CALL_OPTIONS, type CallOptions, getJson, type Transport } from './transport.ts'

export interface TilesOptions extends CallOptions, Pick<ItemsOptions, 'filter' | 'datetime'> {}

export const TILES_OPTIONS: string[] = ['filter', 'datetime', ...CALL_OPTIONS]

/** A source of vector tiles, as MapLibre's `addSource` takes it. Its one layer has the table's name. */
export interface TileSource {
  type: 'vector'
  tiles: string[]
  minzoom: number
  maxzoom: number
  bounds: [number, number, number, number]
  attribution?: string
}

interface TileJson extends Omit<TileSource, 'type'> {
  tilejson: string
}

/** Reads a tileset's TileJSON. While the tiles are being built, the service asks to try again, which is done. */
export async function tileSource(
  transport: Transport,
  table: string,
  options: TilesOptions,
  receipt: Receipt,
): Promise<TileSource> {
  const path = `/v1/ogc/collections/${encodeURIComponent(table)}/tiles/WebMercatorQuad?f=tilejson`
  const tileJson = await getJson<TileJson>(transport, path, options, receipt)
  const { minzoom, maxzoom, bounds, attribution } = tileJson
  const conditions = filterParameters(options)
  const tiles = tileJson.tiles.map((address) => {
    // The key is sent to the base URL, whatever address the service names.
    const template = transport.baseUrl + address.slice(address.indexOf('/v1/'))
    if (conditions.size === 0) return template
    return `${template}${template.includes('?') ? '&' : '?'}${conditions}`
  })
  return { type: 'vector', tiles, minzoom, maxzoom, bounds, ...(attribution && { attribution }) }
}
