import { type Bbox, roundOutward } from '@wayleave/geodata/geometry'
import { MAX_LATITUDE, type TileMetadata, tileSize, worldX, worldY } from '@wayleave/geodata/tiles'
import type { Dataset, Version } from '../../data/catalog/dataset.ts'
import { escapeHtml } from '../../http/pages/html.ts'
import { CRS84 } from '../request/crs-list.ts'
import { json, mvt } from '../request/encodings.ts'
import { type Link, ROOT } from '../write/links.ts'
import { TILE_CRS, TILE_MATRIX_SET_URI, WEB_MERCATOR_QUAD } from './tile-matrix-set.ts'

const TILING_SCHEME = 'http://www.opengis.net/def/rel/ogc/1.0/tiling-scheme'
export const TILING_SCHEMES = 'http://www.opengis.net/def/rel/ogc/1.0/tiling-schemes'
export const TILESETS_VECTOR = 'http://www.opengis.net/def/rel/ogc/1.0/tilesets-vector'

interface TemplatedLink extends Link {
  templated?: true
}

/** A version and the archive of its tiles. */
export interface Tileset {
  dataset: Dataset
  version: Version
  metadata: TileMetadata
  maxZoom: number
  /** Names the archive if it replaced another one of the version. */
  build: string | null
}

export function tileMatrixSets(base: string, links: readonly Link[]) {
  return {
    links,
    tileMatrixSets: [
      {
        id: WEB_MERCATOR_QUAD,
        title: 'Google Maps Compatible for the World',
        uri: TILE_MATRIX_SET_URI,
        crs: TILE_CRS,
        links: [
          {
            href: `${base}${ROOT}/tileMatrixSets/${WEB_MERCATOR_QUAD}`,
            rel: 'self',
            type: json.mediaType,
            title: 'The definition',
          },
        ],
      },
    ],
  }
}

/** What the list of tilesets and the tileset itself have in common. */
function outline({ table, title, version }: Dataset, base: string, build: string | null) {
  return {
    title,
    dataType: 'vector',
    crs: TILE_CRS,
    tileMatrixSetURI: TILE_MATRIX_SET_URI,
    links: [
      {
        href: `${base}${ROOT}/tileMatrixSets/${WEB_MERCATOR_QUAD}`,
        rel: TILING_SCHEME,
        type: json.mediaType,
        title: 'The tile matrix set',
      },
      {
        href: tileTemplate({ table, version, build }, base, '{tileMatrix}/{tileRow}/{tileCol}'),
        rel: 'item',
        type: mvt.mediaType,
        title: 'The tiles',
        templated: true,
      },
    ] as TemplatedLink[],
  }
}

function tilesetUrl(table: string, base: string): string {
  return `${base}${ROOT}/collections/${table}/tiles/${WEB_MERCATOR_QUAD}`
}

interface NamedTiles {
  table: string
  version: number
  build: string | null
}

/** The URLs of tiles name their version, and their build if it is not the first, so that they can be cached for ever. */
export function tileTemplate({ table, version, build }: NamedTiles, base: string, address: string): string {
  return `${tilesetUrl(table, base)}/${address}?version=${version}${build === null ? '' : `&build=${build}`}`
}

export function tilesets(dataset: Dataset, base: string, links: readonly Link[]) {
  // Which build it is, is not known here: the tileset itself says it.
  const { links: own, ...rest } = outline(dataset, base, null)
  const self = {
    href: tilesetUrl(dataset.table, base),
    rel: 'self',
    type: json.mediaType,
    title: 'The tileset',
  }
  return { links, tilesets: [{ ...rest, links: [self, ...own] }] }
}

export function tilesetDocument(tileset: Tileset, base: string, own: Link[]) {
  const { dataset, version, metadata, maxZoom, build } = tileset
  const { links, ...rest } = outline({ ...dataset, ...version }, base, build)
  const [west, south, east, north] = boundsOf(version)
  return {
    ...rest,
    ...(dataset.description === '' ? {} : { description: dataset.description }),
    ...(dataset.attribution === '' ? {} : { attribution: dataset.attribution }),
    ...(dataset.keywords.length === 0 ? {} : { keywords: dataset.keywords }),
    version: String(version.version),
    boundingBox: { lowerLeft: [west, south], upperRight: [east, north], crs: CRS84.uri },
    centerPoint: { coordinates: [(west + east) / 2, (south + north) / 2], crs: CRS84.uri, tileMatrix: '0' },
    tileMatrixSetLimits: limitsOf(version, maxZoom),
    layers: metadata.vector_layers.map(({ id, minzoom, maxzoom }) => ({
      id,
      title: dataset.title,
      dataType: 'vector',
      ...geometryDimension(version),
      minTileMatrix: String(minzoom),
      maxTileMatrix: String(maxzoom),
    })),
    contents: metadata.contents,
    links: [
      ...own,
      ...links,
      {
        href: `${base}${ROOT}/collections/${dataset.table}/style`,
        rel: 'describedby',
        type: json.mediaType,
        title: 'A MapLibre style for the tiles',
      },
    ],
  }
}

/**
 * TileJSON 3.0. `contents` tells by zoom what tiles show and what they leave out. `keyQuery` is the key of a request
 * that sent it in the URL: a map library requests the tiles by this template and nothing else.
 */
export function tileJsonDocument(
  { dataset, version, metadata, maxZoom, build }: Tileset,
  base: string,
  keyQuery: string,
) {
  const named = { table: dataset.table, version: version.version, build }
  const bounds = boundsOf(version)
  return {
    tilejson: '3.0.0',
    name: dataset.title,
    description: dataset.description,
    // Maps show it as HTML.
    attribution: escapeHtml(dataset.attribution),
    version: `${version.version}.0.0`,
    scheme: 'xyz',
    tiles: [tileTemplate(named, base, '{z}/{y}/{x}') + keyQuery],
    minzoom: 0,
    maxzoom: maxZoom,
    bounds,
    center: [(bounds[0] + bounds[2]) / 2, (bounds[1] + bounds[3]) / 2, 0],
    vector_layers: metadata.vector_layers,
    features: metadata.features,
    contents: metadata.contents,
  }
}

/** The box of the data, within what Web Mercator shows. */
export function boundsOf({ manifest: { bbox } }: Version): Bbox {
  const [west, south, east, north] = bbox ? roundOutward(bbox) : [-180, -90, 180, 90]
  const clamp = (latitude: number) => Math.max(-MAX_LATITUDE, Math.min(MAX_LATITUDE, latitude))
  return [west, clamp(south), east, clamp(north)]
}

function limitsOf(version: Version, maxZoom: number) {
  const [west, south, east, north] = boundsOf(version)
  return Array.from({ length: maxZoom + 1 }, (_, z) => {
    const last = 2 ** z - 1
    const tile = (world: number) => Math.max(0, Math.min(last, Math.floor(world / tileSize(z))))
    return {
      tileMatrix: String(z),
      minTileRow: tile(worldY(north)),
      maxTileRow: tile(worldY(south)),
      minTileCol: tile(worldX(west)),
      maxTileCol: tile(worldX(east)),
    }
  })
}

/** 0 for points, 1 for lines, 2 for polygons; left out if they are mixed. */
function geometryDimension({ manifest: { geometryTypes } }: Version): { geometryDimension?: number } {
  const dimensions = new Set(
    geometryTypes.map((type) =>
      type.endsWith('Point') ? 0 : type.endsWith('LineString') ? 1 : type.endsWith('Polygon') ? 2 : -1,
    ),
  )
  const [only] = dimensions
  return dimensions.size === 1 && only !== undefined && only >= 0 ? { geometryDimension: only } : {}
}
