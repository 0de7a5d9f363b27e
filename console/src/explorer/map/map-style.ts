import {
  type DataLayersOptions,
  dataLayers,
  hexagonLayers,
  type MapLook,
  type NamesDepth,
  PALETTES,
  type Palette,
  type Scale,
  type Theme,
} from '@wayleave/contract/map-style'
import type { LayerSpecification, StyleSpecification } from 'maplibre-gl'
import { type Background, ownBackground, plainBackground } from './background.ts'

/** Where the map's features come from. */
export type DataSource =
  | {
      kind: 'tiles'
      url: string
      layer: string
      maxZoom: number
      bounds: [number, number, number, number]
      /** The property with the id, if ids are not the integers that tiles can hold. */
      idProperty: string | null
      pointCount: string
      /** Whether points that stand for several features sum up the columns of the color and the size. */
      isSummed: boolean
      attribution: string
    }
  | {
      kind: 'features'
      collection: object
      /** Whether there are so few that small points would look like none, as in a sample. */
      isSparse: boolean
      attribution: string
    }

/** Cells that the service has counted features in. */
export interface Hexagons {
  collection: object
  scale: Scale
}

export interface StyleParts {
  theme: Theme
  data: DataSource | null
  look: MapLook
  color: Scale | null
  size: Scale | null
  /** Null if they are not shown or not loaded yet. */
  hexagons: Hexagons | null
  /** The operator's own background; null for ours, undefined while it loads. */
  basemap: Background | null | undefined
  /** How deep the map has been zoomed: names of places are loaded when they are first needed. */
  depth: NamesDepth
  /** Features that are drawn above all others: the selected and the pointed one. */
  marked: object
  /** What is being drawn by hand. */
  drawn: object
}

type Expression = never
/** The property with the id of features that do not come from tiles. No column can have this name. */
export const FEATURE_ID = '\0id'

/** The whole style: a background, the dataset's features and the marked ones. */
export function mapStyle(parts: StyleParts): StyleSpecification {
  const palette = PALETTES[parts.theme]
  const background =
    parts.basemap === undefined
      ? plainBackground(parts.theme)
      : (parts.basemap ?? ownBackground(parts.theme, parts.depth))
  return {
    version: 8,
    ...(background.glyphs !== undefined && { glyphs: background.glyphs }),
    ...(background.sprite !== undefined && { sprite: background.sprite }),
    sources: {
      ...background.sources,
      ...(parts.data && { data: sourceOf(parts.data) }),
      ...(parts.hexagons && parts.data && { hexagons: hexagonSource(parts.hexagons, parts.data) }),
      marked: { type: 'geojson', data: parts.marked as never },
      drawn: { type: 'geojson', data: parts.drawn as never },
    },
    layers: [
      ...background.layers,
      ...(parts.data ? layersOf(parts, parts.data, background.font) : []),
      ...background.names,
      ...markedLayers(palette),
      ...drawnLayers(palette),
    ],
  }
}

function hexagonSource({ collection }: Hexagons, { attribution }: DataSource) {
  return { type: 'geojson', data: collection as never, attribution } as const
}

function sourceOf(data: DataSource): StyleSpecification['sources'][string] {
  const { attribution } = data
  if (data.kind === 'features') {
    const collection = data.collection as never
    return { type: 'geojson', data: collection, tolerance: 0.3, promoteId: FEATURE_ID, attribution }
  }
  return {
    type: 'vector',
    tiles: [data.url],
    minzoom: 0,
    maxzoom: data.maxZoom,
    bounds: data.bounds,
    attribution,
    ...(data.idProperty && { promoteId: data.idProperty }),
  }
}

function layersOf(parts: StyleParts, data: DataSource, font: string[]): LayerSpecification[] {
  const { theme, look, color, size, hexagons } = parts
  const options: DataLayersOptions = {
    prefix: '',
    from: data.kind === 'tiles' ? { source: 'data', 'source-layer': data.layer } : { source: 'data' },
    theme,
    look,
    color,
    size,
    pointCount: data.kind === 'tiles' ? data.pointCount : null,
    isSummed: data.kind === 'tiles' && data.isSummed,
    isSparse: data.kind === 'features' && data.isSparse,
    font,
    hasPointing: true,
  }
  const layers =
    look.draw === 'hexagons'
      ? hexagons
        ? hexagonLayers(options, 'hexagons', hexagons.scale)
        : []
      : dataLayers(options)
  return layers as unknown as LayerSpecification[]
}

/** What is being drawn by hand: the shape that will select features. */
function drawnLayers({ selected }: Palette): LayerSpecification[] {
  return [
    {
      id: 'drawn-area',
      type: 'fill',
      source: 'drawn',
      filter: ['==', ['geometry-type'], 'Polygon'],
      paint: { 'fill-color': selected, 'fill-opacity': 0.12 },
    },
    {
      id: 'drawn-line',
      type: 'line',
      source: 'drawn',
      paint: { 'line-color': selected, 'line-width': 2, 'line-dasharray': [2, 1.5] },
    },
    {
      id: 'drawn-points',
      type: 'circle',
      source: 'drawn',
      filter: ['==', ['geometry-type'], 'Point'],
      paint: { 'circle-color': selected, 'circle-radius': 4 },
    },
  ]
}

function markedLayers({ pointed, selected, outline }: Palette): LayerSpecification[] {
  const color = ['match', ['get', 'mark'], 'selected', selected, pointed] as Expression
  const isType = (type: string) => ['==', ['geometry-type'], type] as Expression
  return [
    {
      id: 'marked-areas',
      type: 'fill',
      source: 'marked',
      filter: isType('Polygon'),
      paint: { 'fill-color': color, 'fill-opacity': 0.3 },
    },
    {
      id: 'marked-lines',
      type: 'line',
      source: 'marked',
      filter: ['!=', ['geometry-type'], 'Point'] as Expression,
      paint: { 'line-color': color, 'line-width': 2.4 },
    },
    {
      id: 'marked-points',
      type: 'circle',
      source: 'marked',
      filter: isType('Point'),
      paint: {
        'circle-color': color,
        'circle-radius': ['interpolate', ['linear'], ['zoom'], 0, 5, 8, 7, 14, 9],
        'circle-stroke-color': outline,
        'circle-stroke-width': 2,
      },
    },
  ]
}
