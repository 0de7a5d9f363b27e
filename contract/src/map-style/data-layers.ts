import type { MapLook } from './map-look.ts'
import { PALETTES, type Palette, rampColors, type Theme } from './ramps.ts'
import { colorExpression, type Scale, sizeExpression } from './scale.ts'

/** A layer of a MapLibre style. */
export interface StyleLayer {
  id: string
  type: string
  [part: string]: unknown
}

/** What the layers of a dataset are made of. */
export interface DataLayersOptions {
  /** Before the name of each layer. */
  prefix: string
  from: { source: string; 'source-layer'?: string }
  theme: Theme
  look: MapLook
  /** Null if no column gives the colors, or its values are not known yet. */
  color: Scale | null
  size: Scale | null
  /** The property with the number of features that a point stands for; null if each stands for itself. */
  pointCount: string | null
  /** Whether points that stand for several features sum up the columns of the color and the size. */
  isSummed: boolean
  /** Whether there are so few points that small ones would look like none. */
  isSparse: boolean
  /** A font that the style's glyphs have. */
  font: readonly string[]
  /** Whether the feature under the mouse has the state `pointed`. */
  hasPointing: boolean
}

/** No feature has this property. */
const NO_COUNT = '\0count'
const isType = (type: string) => ['==', ['geometry-type'], type]

/** The layers of a dataset: areas, lines, points, points that stand for several features, and texts. */
export function dataLayers(options: DataLayersOptions): StyleLayer[] {
  const paint = new DataPaint(options)
  if (options.look.draw === 'heat') return [...paint.shapes(), paint.heat()]
  return [...paint.shapes(), paint.clusters(), paint.points(), paint.counts(), ...paint.labels()]
}

class DataPaint {
  readonly #options: DataLayersOptions
  readonly #palette: Palette
  readonly #count: unknown
  readonly #isCluster: unknown

  constructor(options: DataLayersOptions) {
    this.#options = options
    this.#palette = PALETTES[options.theme]
    this.#count = ['get', options.pointCount ?? NO_COUNT]
    // 0 marks a part of a multipoint that is counted in another tile: it is drawn like a feature.
    this.#isCluster = ['>', ['coalesce', this.#count, 0], 0]
  }

  shapes(): StyleLayer[] {
    const { color, look } = this.#options
    const isColored = color !== null
    const fill = isColored ? look.opacity * 0.85 : look.opacity * 0.33
    return [
      this.#layer('areas', 'fill', isType('Polygon'), {
        paint: { 'fill-color': this.#color(), 'fill-opacity': this.#whenPointed(0.6, fill) },
      }),
      this.#layer('outlines', 'line', isType('Polygon'), {
        paint: {
          'line-color': isColored ? this.#palette.outline : this.#color(),
          'line-width': ['interpolate', ['linear'], ['zoom'], 0, 0.4, 4, 0.8, 10, 1.4],
        },
      }),
      this.#layer('lines', 'line', isType('LineString'), {
        layout: { 'line-cap': 'round', 'line-join': 'round' },
        paint: {
          'line-color': this.#color(),
          'line-opacity': look.opacity,
          'line-width': ['interpolate', ['linear'], ['zoom'], 0, 0.9, 6, 1.6, 14, 3.5],
        },
      }),
    ]
  }

  /**
   * Points that stand for several features. Their color is that of the mean of numbers or of the most frequent value,
   * which is paler the smaller its share is; their size is that of the largest number.
   */
  clusters(): StyleLayer {
    const { color, size, look } = this.#options
    const isSummed = this.#isSummed(color)
    return this.#layer('clusters', 'circle', ['all', isType('Point'), this.#isCluster], {
      layout: { 'circle-sort-key': this.#count },
      paint: {
        'circle-color': this.#clusterColor(),
        'circle-opacity': isSummed && color?.kind === 'categories' ? this.#byShare(color) : look.opacity,
        'circle-stroke-color': this.#palette.outline,
        'circle-stroke-width': ['step', this.#count, 0.2, 20, 0.5],
        'circle-radius': this.#isSummed(size)
          ? byZoom((point) => ['*', point, sizeExpression(size!, `${size!.column}:max`)])
          : clusterRadius(this.#count),
      },
    })
  }

  points(): StyleLayer {
    const { size, look } = this.#options
    const grow = size ? sizeExpression(size, size.column) : 1
    return this.#layer('points', 'circle', ['all', isType('Point'), ['!', this.#isCluster]], {
      ...(size?.kind === 'numbers' && {
        // Small ones stand on large ones, so that none is hidden.
        layout: { 'circle-sort-key': ['-', 0, ['to-number', ['get', size.column], 0]] },
      }),
      paint: {
        'circle-color': this.#color(),
        'circle-opacity': look.opacity,
        'circle-radius': byZoom((point) => ['*', this.#options.isSparse ? point * SPARSE : point, grow]),
        'circle-stroke-color': this.#palette.outline,
        'circle-stroke-width': ['interpolate', ['linear'], ['zoom'], 2, 0.3, 6, 0.8, 10, 1.2],
      },
    })
  }

  /** The numbers on large clusters. */
  counts(): StyleLayer {
    const { color, font } = this.#options
    const isLarge = ['>=', this.#count, LABELED_FROM]
    return this.#layer('counts', 'symbol', ['all', isType('Point'), this.#isCluster, isLarge], {
      layout: {
        'text-field': shortCount(this.#count),
        'text-font': font,
        'text-size': ['interpolate', ['linear'], ['ln', this.#count], 6.2, 9, 10, 12],
        'symbol-sort-key': ['-', 0, this.#count],
        // A number needs room, so that it does not stand on the circles beside it.
        'text-padding': 9,
      },
      paint: {
        'text-color': color ? this.#palette.label : this.#palette.onCluster,
        'text-halo-color': color ? this.#palette.halo : this.#palette.cluster[2],
        'text-halo-width': color ? 1.4 : 0.8,
      },
    })
  }

  heat(): StyleLayer {
    const { look, theme } = this.#options
    const colors = rampColors(look.ramp, theme, look.isReversed)
    const stops = colors.flatMap((color, index) => [0.15 + (0.85 * index) / (colors.length - 1), color])
    return this.#layer('heat', 'heatmap', isType('Point'), {
      paint: {
        // The root, so that a place with a thousand features does not leave all others without a color.
        'heatmap-weight': ['sqrt', ['coalesce', this.#count, 1]],
        'heatmap-intensity': ['interpolate', ['linear'], ['zoom'], 0, 0.12, 6, 0.3, 12, 1],
        'heatmap-radius': ['interpolate', ['linear'], ['zoom'], 0, 10, 6, 20, 12, 32],
        'heatmap-opacity': look.opacity,
        'heatmap-color': ['interpolate', ['linear'], ['heatmap-density'], 0, `${colors[0]}00`, ...stops],
      },
    })
  }

  /** The values of a column beside the features. */
  labels(): StyleLayer[] {
    const { look, size, font } = this.#options
    if (look.label === '') return []
    const isFeature = ['all', ['has', look.label], ['!', this.#isCluster]]
    return [
      this.#layer('labels', 'symbol', isFeature, {
        layout: {
          'text-field': ['to-string', ['get', look.label]],
          'text-font': font,
          'text-size': 11.5,
          'text-variable-anchor': ['left', 'right', 'top', 'bottom'],
          'text-radial-offset': 0.7,
          'text-max-width': 9,
          'text-padding': 4,
          ...(size && { 'symbol-sort-key': ['-', 0, ['to-number', ['get', size.column], 0]] }),
        },
        paint: {
          'text-color': this.#palette.label,
          'text-halo-color': this.#palette.halo,
          'text-halo-width': 1.6,
        },
      }),
    ]
  }

  #layer(id: string, type: string, filter: unknown, rest: object): StyleLayer {
    return { id: this.#options.prefix + id, type, ...this.#options.from, filter, ...rest }
  }

  #isSummed(scale: Scale | null): boolean {
    return scale !== null && this.#options.isSummed
  }

  #whenPointed(pointed: unknown, other: unknown): unknown {
    if (!this.#options.hasPointing) return other
    return ['case', ['boolean', ['feature-state', 'pointed'], false], pointed, other]
  }

  #color(): unknown {
    const { color, look, theme } = this.#options
    const own = color ? colorExpression(color, color.column, look, theme) : this.#palette.data
    return this.#whenPointed(this.#palette.pointed, own)
  }

  #clusterColor(): unknown {
    const { color, look, theme } = this.#options
    if (color === null) return clusterColors(this.#palette, this.#count)
    if (!this.#isSummed(color)) return this.#palette.none
    const property = `${color.column}:${color.kind === 'numbers' ? 'mean' : 'top'}`
    return colorExpression(color, property, look, theme)
  }

  #byShare({ column }: Scale): unknown {
    const { opacity } = this.#options.look
    const share = ['coalesce', ['get', `${column}:share`], 0]
    return ['interpolate', ['linear'], share, 0.2, opacity * 0.4, 0.9, opacity]
  }
}

/** Smaller clusters than this have no room for a number; the tooltip tells it. */
const LABELED_FROM = 1000

/**
 * Cells of the tiles are some pixels apart: circles may touch their neighbours and hardly cover them. A cluster is
 * not smaller than a single feature is at the same zoom.
 */
function clusterRadius(count: unknown): unknown {
  const stops = [0.7, 2, 3, 3.4, 4.6, 5, 6.2, 9, 8, 13, 10, 18]
  return byZoom((point) => ['max', ['interpolate', ['linear'], ['ln', count], ...stops], point * 1.1])
}

/** From light to strong: where features are dense the map is dark (in the dark theme, bright). */
function clusterColors({ cluster: [low, middle, high] }: Palette, count: unknown): unknown {
  return ['interpolate', ['linear'], ['ln', count], 0.7, low, 3.2, middle, 5.5, high]
}

/** A radius by the radius that a point has at each zoom. */
function byZoom(radius: (point: number) => unknown): unknown {
  const stops = POINT_RADII.flatMap(([zoom, point]) => [zoom, radius(point)])
  return ['interpolate', ['linear'], ['zoom'], ...stops]
}

const POINT_RADII: [zoom: number, pixels: number][] = [
  [-1.5, 1.4],
  [0, 2.3],
  [4, 3.1],
  [8, 4.4],
  [14, 6.5],
]

/** How much larger a point is that has few others beside it. */
const SPARSE = 1.7

/** 950, 1.2k, 36k. */
function shortCount(count: unknown): unknown {
  const thousands = (digits: number) => [
    'concat',
    ['number-format', ['/', count, 1000], { 'max-fraction-digits': digits }],
    'k',
  ]
  return ['step', count, ['to-string', count], 1000, thousands(1), 10_000, thousands(0)]
}

/** The layers of hexagons, each with `property`, the number that gives the color. */
export function hexagonLayers(
  { prefix, theme, look }: Pick<DataLayersOptions, 'prefix' | 'theme' | 'look'>,
  source: string,
  scale: Scale,
): StyleLayer[] {
  return [
    {
      id: `${prefix}hexagons`,
      type: 'fill',
      source,
      paint: {
        'fill-color': colorExpression(scale, scale.column, look, theme),
        'fill-opacity': look.opacity,
        'fill-outline-color': PALETTES[theme].outline,
      },
    },
  ]
}
