import type { LayerSpecification, StyleSpecification } from 'maplibre-gl'
import type { Theme } from '../../theme.ts'
import { type Background, type NamesDepth, ownBackground, plainBackground } from './background.ts'
import { colorExpression, type Scale, sizeExpression } from './coloring.ts'
import { PALETTES, type Palette, RING_OPACITY } from './map-palette.ts'

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
    }
  | { kind: 'features'; collection: object }

export interface StyleParts {
  theme: Theme
  data: DataSource | null
  color: Scale | null
  size: Scale | null
  /** The operator's own background; null for ours, undefined while it loads. */
  basemap: Background | null | undefined
  /** How deep the map has been zoomed: names of places are loaded when they are first needed. */
  depth: NamesDepth
  /** Features that are drawn above all others: the selected and the pointed one. */
  marked: object
}

type Expression = never
/** The property with the id of features that do not come from tiles. No column can have this name. */
export const FEATURE_ID = '\0id'
/** No feature that does not come from tiles has this property. */
const NO_COUNT = '\0count'

/** The whole style: a background, the dataset's features and the marked ones. */
export function mapStyle(parts: StyleParts): StyleSpecification {
  const palette = PALETTES[parts.theme]
  const background =
    parts.basemap === undefined
      ? plainBackground(palette)
      : (parts.basemap ?? ownBackground(palette, parts.depth))
  return {
    version: 8,
    ...(background.glyphs !== undefined && { glyphs: background.glyphs }),
    ...(background.sprite !== undefined && { sprite: background.sprite }),
    sources: {
      ...background.sources,
      ...(parts.data && { data: sourceOf(parts.data) }),
      marked: { type: 'geojson', data: parts.marked as never },
    },
    layers: [
      ...background.layers,
      ...(parts.data ? dataLayers(parts, palette, parts.data, background.font) : []),
      ...background.names,
      ...markedLayers(palette),
    ],
  }
}

function sourceOf(data: DataSource): StyleSpecification['sources'][string] {
  if (data.kind === 'features') {
    return { type: 'geojson', data: data.collection as never, tolerance: 0.3, promoteId: FEATURE_ID }
  }
  return {
    type: 'vector',
    tiles: [data.url],
    minzoom: 0,
    maxzoom: data.maxZoom,
    bounds: data.bounds,
    ...(data.idProperty && { promoteId: data.idProperty }),
  }
}

/** What the layers of the data have in common. */
interface DataPaint {
  from: { source: string; 'source-layer'?: string }
  palette: Palette
  /** Whether a column gives the colors. */
  isColored: boolean
  color: Expression
}

const isType = (type: string) => ['==', ['geometry-type'], type] as Expression
const byPointing = (pointed: unknown, other: unknown) =>
  ['case', ['boolean', ['feature-state', 'pointed'], false], pointed, other] as Expression

function dataLayers(
  { theme, color, size }: StyleParts,
  palette: Palette,
  data: DataSource,
  font: string[],
): LayerSpecification[] {
  const own = color ? colorExpression(color, theme) : palette.data
  const paint: DataPaint = {
    from: data.kind === 'tiles' ? { source: 'data', 'source-layer': data.layer } : { source: 'data' },
    palette,
    isColored: color !== null,
    color: byPointing(palette.pointed, own),
  }
  const count = ['get', data.kind === 'tiles' ? data.pointCount : NO_COUNT]
  // 0 marks a part of a multipoint that is counted in another tile: it is drawn like a feature.
  const isCluster = ['>', ['coalesce', count, 0], 0]
  const grow = size ? sizeExpression(size) : 1
  return [
    ...areaAndLineLayers(paint),
    clusterLayer(paint, count, isCluster),
    pointLayer(paint, isCluster, grow),
    countLayer(paint, count, isCluster, font),
  ]
}

function areaAndLineLayers({ from, palette, isColored, color }: DataPaint): LayerSpecification[] {
  return [
    {
      id: 'areas',
      type: 'fill',
      ...from,
      filter: isType('Polygon'),
      paint: { 'fill-color': color, 'fill-opacity': byPointing(0.6, isColored ? 0.72 : 0.28) },
    },
    {
      id: 'outlines',
      type: 'line',
      ...from,
      filter: isType('Polygon'),
      paint: {
        'line-color': isColored ? (palette.outline as Expression) : color,
        'line-width': ['interpolate', ['linear'], ['zoom'], 0, 0.4, 4, 0.8, 10, 1.4],
      },
    },
    {
      id: 'lines',
      type: 'line',
      ...from,
      filter: isType('LineString'),
      layout: { 'line-cap': 'round', 'line-join': 'round' },
      paint: {
        'line-color': color,
        'line-width': ['interpolate', ['linear'], ['zoom'], 0, 0.9, 6, 1.6, 14, 3.5],
      },
    },
  ]
}

function clusterLayer({ from, palette, isColored }: DataPaint, count: unknown, isCluster: unknown) {
  // A cluster has no value of its own. If values give the colors it is a ring, which no single feature is.
  const paint = isColored
    ? {
        'circle-color': palette.label,
        'circle-opacity': RING_OPACITY,
        'circle-stroke-color': palette.label,
        'circle-stroke-opacity': 0.7,
        'circle-stroke-width': 1.2,
      }
    : {
        'circle-color': clusterColors(palette, count),
        'circle-opacity': 0.85,
        'circle-stroke-color': palette.outline,
        'circle-stroke-width': ['step', count, 0, 20, 0.5] as Expression,
      }
  return {
    id: 'clusters',
    type: 'circle',
    ...from,
    filter: ['all', isType('Point'), isCluster] as Expression,
    layout: { 'circle-sort-key': count as Expression },
    paint: { ...paint, 'circle-radius': clusterRadius(count) },
  } satisfies LayerSpecification
}

function pointLayer({ from, palette, color }: DataPaint, isCluster: unknown, grow: unknown) {
  return {
    id: 'points',
    type: 'circle',
    ...from,
    filter: ['all', isType('Point'), ['!', isCluster]] as Expression,
    paint: {
      'circle-color': color,
      'circle-opacity': 0.85,
      'circle-radius': pointRadius(grow),
      'circle-stroke-color': palette.outline,
      'circle-stroke-width': ['interpolate', ['linear'], ['zoom'], 2, 0.3, 6, 0.8, 10, 1.2],
    },
  } satisfies LayerSpecification
}

/** The numbers on large clusters. */
function countLayer(
  { from, palette, isColored }: DataPaint,
  count: unknown,
  isCluster: unknown,
  font: string[],
) {
  return {
    id: 'counts',
    type: 'symbol',
    ...from,
    filter: ['all', isType('Point'), isCluster, ['>=', count, LABELED_FROM]] as Expression,
    layout: {
      'text-field': shortCount(count),
      'text-font': font,
      'text-size': ['interpolate', ['linear'], ['ln', count], 6.2, 9, 10, 12] as Expression,
      'symbol-sort-key': ['-', 0, count] as Expression,
      // A number needs room, so that it does not stand on the circles beside it.
      'text-padding': 9,
    },
    paint: {
      'text-color': isColored ? palette.label : palette.onCluster,
      'text-halo-color': isColored ? palette.halo : palette.cluster[2],
      'text-halo-width': 0.8,
    },
  } satisfies LayerSpecification
}

/** Smaller clusters than this have no room for a number; the tooltip tells it. */
const LABELED_FROM = 1000

/**
 * Cells of the tiles are some pixels apart: circles may touch their neighbours and hardly cover them. A cluster is
 * not smaller than a single feature is at the same zoom.
 */
function clusterRadius(count: unknown): Expression {
  const stops = [0.7, 2, 3, 3.4, 4.6, 5, 6.2, 9, 8, 13, 10, 18]
  return byZoom((point) => ['max', ['interpolate', ['linear'], ['ln', count], ...stops], point * 1.1])
}

/** From light to strong: where features are dense the map is dark (in the dark theme, bright). */
function clusterColors({ cluster: [low, middle, high] }: Palette, count: unknown): Expression {
  return ['interpolate', ['linear'], ['ln', count], 0.7, low, 3.2, middle, 5.5, high] as Expression
}

function pointRadius(grow: unknown): Expression {
  return byZoom((point) => ['*', point, grow])
}

/** A radius by the radius that a point has at each zoom. */
function byZoom(radius: (point: number) => unknown): Expression {
  const stops = POINT_RADII.flatMap(([zoom, point]) => [zoom, radius(point)])
  return ['interpolate', ['linear'], ['zoom'], ...stops] as Expression
}

const POINT_RADII: [zoom: number, pixels: number][] = [
  [0, 1.9],
  [4, 2.8],
  [8, 4.2],
  [14, 6.5],
]

/** 950, 1.2k, 36k. */
function shortCount(count: unknown): Expression {
  const thousands = (digits: number) => [
    'concat',
    ['number-format', ['/', count, 1000], { 'max-fraction-digits': digits }],
    'k',
  ]
  return ['step', count, ['to-string', count], 1000, thousands(1), 10_000, thousands(0)] as Expression
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
