import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Color,
  createExpression,
  featureFilter,
  latest,
  validateStyleMin,
} from '@maplibre/maplibre-gl-style-spec'
import {
  CATEGORIES,
  type DataLayersOptions,
  DEFAULT_LOOK,
  DEVICE_FONT,
  DRAWINGS,
  dataLayers,
  hexagonLayers,
  legendOf,
  type MapLook,
  numberScale,
  RAMP_NAMES,
  type Scale,
  type StyleLayer,
  worldBackground,
} from '@wayleave/contract/map-style'

const SUMMARY = { min: 0, max: 10, fifths: [1, 2.5, 4, 8] }
const about = { column: 'mag', rows: 'all', nulls: 0 } as const
const numbers = (kind: 'continuous' | 'quantiles' | 'equal'): Scale => ({
  ...numberScale(SUMMARY, { kind }, false),
  ...about,
})
const kinds: Scale = {
  kind: 'categories',
  values: ['quake', 'blast', ''],
  colors: [0, 1, 2],
  counts: null,
  others: 4,
  ...about,
  column: 'kind',
}

function layersOf(look: Partial<MapLook>, color: Scale | null, size: Scale | null): StyleLayer[] {
  const options: DataLayersOptions = {
    prefix: '',
    from: { source: 'data', 'source-layer': 'data' },
    theme: 'light',
    look: { ...DEFAULT_LOOK, ...look },
    color,
    size,
    pointCount: 'point_count',
    isSummed: true,
    isSparse: false,
    font: DEVICE_FONT,
    hasPointing: false,
  }
  return look.draw === 'hexagons'
    ? hexagonLayers(options, 'cells', numbers('quantiles'))
    : dataLayers(options)
}

/** The layer that draws a feature of these properties, and a value of its paint at a zoom. */
function drawn(layers: readonly StyleLayer[], properties: Record<string, unknown>, zoom = 3) {
  const feature = { type: 1 as const, properties }
  const layer = layers.find(
    ({ type, filter }) =>
      type === 'circle' &&
      featureFilter(filter as never, 'layers[0].filter').filter({ zoom }, feature as never, {} as never),
  )!
  const paint = (name: 'circle-color' | 'circle-radius') => {
    const value = (layer['paint'] as Record<string, unknown>)[name]
    const expression = createExpression(value, `layers[0].paint.${name}`, latest.paint_circle[name] as never)
    assert.equal(expression.result, 'success')
    return expression.result === 'success' && expression.value.evaluate({ zoom }, feature as never)
  }
  const [red, green, blue] = (paint('circle-color') as Color).rgb
  const part = (share: number) =>
    Math.round(share * 255)
      .toString(16)
      .padStart(2, '0')
  return { color: `#${part(red!)}${part(green!)}${part(blue!)}`, radius: Number(paint('circle-radius')) }
}

test('every look is a valid MapLibre style, and every source names its origin', () => {
  const ramps = RAMP_NAMES.flatMap((ramp) => [true, false].map((isReversed) => ({ ramp, isReversed })))
  const looks = DRAWINGS.flatMap((draw) => ramps.map((ramp) => ({ ...ramp, draw, label: 'name' })))
  const scales = [null, numbers('continuous'), numbers('quantiles'), numbers('equal'), kinds]
  for (const theme of ['light', 'dark'] as const) {
    for (const depth of ['countries', 'cities', 'towns'] as const) {
      const world = worldBackground(theme, depth, (file) => `https://example.org/${file}.json`)
      const drawnSources = [...world.layers, ...world.names].flatMap(({ source }) => source ?? [])
      for (const name of drawnSources)
        assert.match(String(world.sources[String(name)]?.attribution), /Natural Earth, GeoNames/)
    }
  }
  const world = worldBackground('light', 'towns', (file) => `https://example.org/${file}.json`)
  for (const look of looks) {
    for (const color of scales) {
      const style = {
        version: 8,
        sources: {
          ...world.sources,
          data: { type: 'vector', tiles: ['https://example.org/{z}/{y}/{x}'] },
          cells: { type: 'geojson', data: 'https://example.org/cells' },
        },
        layers: [...world.layers, ...layersOf(look, color, numbers('continuous')), ...world.names],
      }
      // Texts are drawn with a font of the device.
      const errors = validateStyleMin(style as never).filter(({ message }) => !/glyphs/.test(message))
      assert.deepEqual(errors, [], JSON.stringify(look))
    }
  }
})

test('a circle of several features has the color of their mean, in the class of the legend', () => {
  const scale = numbers('quantiles')
  const legend = legendOf(scale, DEFAULT_LOOK, 'light', String)
  const layers = layersOf({}, scale, null)
  const breaks = SUMMARY.fifths
  for (const value of [0, 0.9, 1, 3, 4, 7.9, 8, 10]) {
    const expected = legend[breaks.filter((at) => value >= at).length]!.color
    assert.equal(drawn(layers, { mag: value }).color, expected, `a feature of ${value}`)
    const cluster = { point_count: 7, 'mag:mean': value, 'mag:min': 0, 'mag:max': 10 }
    assert.equal(drawn(layers, cluster).color, expected, `a circle with the mean ${value}`)
  }
})

test('a circle of several features has the color of their most frequent value', () => {
  const layers = layersOf({ colors: new Map([['blast', '#123456']]) }, kinds, null)
  const [first] = CATEGORIES.light
  assert.equal(drawn(layers, { point_count: 3, 'kind:top': 'quake', 'kind:share': 0.7 }).color, first)
  assert.equal(drawn(layers, { kind: 'blast' }).color, '#123456', 'a chosen color')
  const none = drawn(layers, {}).color
  assert.equal(drawn(layers, { kind: 'other' }).color, none)
  assert.equal(drawn(layers, { point_count: 3 }).color, none)
  assert.notEqual(drawn(layers, { kind: '' }).color, none, 'an empty text is a value')
})

test('sizes are continuous, and a circle of several is as large as the largest of them', () => {
  const layers = layersOf({}, null, numbers('continuous'))
  const radius = (mag: number) => drawn(layers, { mag }).radius
  assert.ok(radius(6.4) > 2 * radius(2.4), 'M6.4 does not look like M2.4')
  assert.ok(radius(2.5) > radius(2.4))
  assert.equal(drawn(layers, { point_count: 5, 'mag:max': 6.4, 'mag:mean': 1 }).radius, radius(6.4))
})

/** A color as it is seen without the cones for green or red (Machado, Oliveira and Fernandes 2009), in OKLab. */
function seenBy(color: string, matrix: readonly (readonly number[])[]): number[] {
  const linear = [1, 3, 5].map((start) => {
    const part = Number.parseInt(color.slice(start, start + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  const times = (rows: readonly (readonly number[])[], values: readonly number[]) =>
    rows.map((row) => row.reduce((sum, factor, index) => sum + factor * values[index]!, 0))
  const seen = times(matrix, linear).map((part) => Math.max(0, Math.min(1, part)))
  const cones = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
  ]
  const lab = [
    [0.2104542553, 0.793617785, -0.0040720468],
    [1.9779984951, -2.428592205, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.808675766],
  ]
  return times(lab, times(cones, seen).map(Math.cbrt))
}

test('people who cannot tell red from green tell the first eight categories apart, in both themes', () => {
  const without = {
    green: [
      [0.367322, 0.860646, -0.227968],
      [0.280085, 0.672501, 0.047413],
      [-0.01182, 0.04294, 0.968881],
    ],
    red: [
      [0.152286, 1.052583, -0.204868],
      [0.114503, 0.786281, 0.099216],
      [-0.003882, -0.048116, 1.051998],
    ],
  }
  for (const theme of ['light', 'dark'] as const) {
    for (const [cones, matrix] of Object.entries(without)) {
      const seen = CATEGORIES[theme].slice(0, 8).map((color) => seenBy(color, matrix))
      for (const [i, one] of seen.entries()) {
        for (const other of seen.slice(0, i)) {
          const distance = Math.hypot(...one.map((part, index) => part - other[index]!))
          // The colors of a usual list of ten, such as Tableau's, come as near as 0.03.
          assert.ok(distance > 0.09, `${theme}, without ${cones}: ${CATEGORIES[theme][i]}, ${distance}`)
        }
      }
    }
  }
})
