import {
  DEVICE_FONT,
  dataLayers,
  hexagonLayers,
  legendOf,
  type MapLook,
  PALETTES,
  type Scale,
  type StyleLayer,
  seaLayer,
  type Theme,
  type WorldFile,
  worldBackground,
} from '@wayleave/contract/map-style'
import { ownProperties } from '@wayleave/geodata/tiles'
import { escapeHtml } from '../../http/pages/html.ts'
import { ROOT } from '../write/links.ts'
import { MAX_CELLS } from './style-scale.ts'
import { boundsOf, type Tileset, tileTemplate } from './tileset-documents.ts'

/** What a style is made of, beside the tileset. */
export interface StyleOptions {
  base: string
  /** See `tileJsonDocument`. */
  keyQuery: string
  theme: Theme
  look: MapLook
  color: Scale | null
  size: Scale | null
  /** Cells in the place of features: the query that computes them, and their colors. */
  hexagons: { groupby: string; measures: string; scale: Scale | null } | null
  /** The columns that points sum up which stand for several features. */
  by: readonly string[]
  /** The parameters that select features, each with `&` before it. */
  selection: string
  /** Where the files of the background are; null for a plain background. */
  worldUrl: ((file: WorldFile) => string) | null
}

/**
 * A complete MapLibre style of a tileset, with the background of the service. It has neither glyphs nor sprites, which
 * would come from elsewhere: MapLibre draws texts with a font of the device.
 */
export function tileStyle(tileset: Tileset, options: StyleOptions) {
  const { dataset, version } = tileset
  const { look, theme, color, size, hexagons, worldUrl } = options
  const { table } = dataset
  const background = worldUrl ? worldBackground(theme, 'cities', worldUrl) : null
  const parts = { prefix: `${table}-`, theme, look }
  const layers = hexagons
    ? hexagons.scale
      ? hexagonLayers(parts, table, hexagons.scale)
      : []
    : dataLayers({
        ...parts,
        from: { source: table, 'source-layer': table },
        color,
        size,
        pointCount: ownProperties(version.manifest.columns).pointCount,
        isSummed: options.by.length > 0,
        isSparse: false,
        font: DEVICE_FONT,
        hasPointing: false,
      })
  return {
    version: 8,
    name: dataset.title,
    metadata: {
      'wayleave:table': table,
      'wayleave:version': version.version,
      ...legendMetadata(options),
    },
    sources: {
      ...background?.sources,
      [table]: hexagons ? hexagonSource(tileset, options, hexagons) : tileSource(tileset, options),
    },
    layers: [
      ...(background?.layers ?? [seaLayer(PALETTES[theme].land)]),
      ...layers,
      ...(background?.names ?? []),
    ] satisfies StyleLayer[],
  }
}

function tileSource({ dataset, version, maxZoom, build }: Tileset, options: StyleOptions) {
  const { base, keyQuery, by, selection } = options
  const named = { table: dataset.table, version: version.version, build }
  const summed = by.length === 0 ? '' : `&by=${encodeURIComponent(JSON.stringify(by))}`
  return {
    type: 'vector',
    tiles: [tileTemplate(named, base, '{z}/{y}/{x}') + selection + summed + keyQuery],
    minzoom: 0,
    maxzoom: maxZoom,
    bounds: boundsOf(version),
    attribution: attributionOf(dataset),
  }
}

function hexagonSource(
  { dataset }: Tileset,
  { base, keyQuery, selection }: StyleOptions,
  { groupby, measures }: { groupby: string; measures: string },
) {
  const query = new URLSearchParams({ f: 'geojson', groupby, measures, limit: String(MAX_CELLS) })
  return {
    type: 'geojson',
    data: `${base}${ROOT}/collections/${dataset.table}/aggregate?${query}${selection}${keyQuery}`,
    attribution: attributionOf(dataset),
  }
}

/** Maps show it as HTML, and leave out what another attribution contains. */
function attributionOf({ attribution, title }: Tileset['dataset']): string {
  return escapeHtml(`Data: ${attribution || title}`)
}

/** The legend, so that a page can show what the colors mean. */
function legendMetadata({ color, hexagons, look, theme }: StyleOptions): object {
  const scale = hexagons ? hexagons.scale : color
  if (!scale) return {}
  const format = (value: number) => String(Number(value.toPrecision(4)))
  const classes = legendOf(scale, look, theme, format).map(({ label, color }) => ({ label, color }))
  const ends = scale.kind === 'numbers' ? { min: scale.min, max: scale.max } : {}
  return { 'wayleave:legend': { column: scale.column, ...ends, classes } }
}
