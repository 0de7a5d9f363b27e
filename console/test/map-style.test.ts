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
