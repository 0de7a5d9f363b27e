import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  DEFAULT_LOOK,
  keepColors,
  legendOf,
  numberScale,
  PALETTES,
  sizeOf,
} from '@wayleave/contract/map-style'
import fc from 'fast-check'
import { versionChanges } from '../src/datasets/version-changes.ts'
import { readAddress, writeAddress } from '../src/explorer/address.ts'
import { facetOfStatistics } from '../src/explorer/filter/facet.ts'
import { parseEnd } from '../src/explorer/filter/parse-end.ts'
import { backgroundOf } from '../src/explorer/map/basemap.ts'
import { circleAround, kilometersBetween } from '../src/explorer/map/circle-around.ts'
import {
  fittingBox,
  keepOnWorld,
  MAX_LATITUDE,
  minZoom,
  projectedBox,
} from '../src/explorer/map/one-world.ts'
import { vectorLayers } from '../src/explorer/map/pmtiles-style.ts'

test('the camera never leaves the one world', () => {
  const camera = fc.record({
    longitude: fc.double({ min: -1000, max: 1000, noNaN: true }),
    latitude: fc.double({ min: -90, max: 90, noNaN: true }),
    zoom: fc.double({ min: -3, max: 20, noNaN: true }),
  })
  const size = fc.record({
    width: fc.integer({ min: 1, max: 4000 }),
    height: fc.integer({ min: 1, max: 3000 }),
  })
  fc.assert(
    fc.property(camera, size, (camera, size) => {
      const kept = keepOnWorld(camera, size)
      assert.ok(kept.zoom >= minZoom(size) - 1e-9)
      const world = 512 * 2 ** kept.zoom
      const x = ((kept.longitude + 180) / 360) * world
      if (world >= size.width) assert.ok(x - size.width / 2 > -1e-3 && x + size.width / 2 < world + 1e-3)
      else assert.ok(Math.abs(kept.longitude) < 1e-9)
      assert.ok(Math.abs(kept.latitude) <= MAX_LATITUDE + 1e-9)
    }),
  )
})

test('a map of the whole world begins without the far south; a zoom to a box shows all of it', () => {
  assert.deepEqual(fittingBox([-180, -90, 180, 84]), [-180, -58, 180, 80])
  assert.deepEqual(fittingBox([-180, -84, 180, -63]), [-180, -84, 180, -63], 'data of Antarctica alone')
  assert.deepEqual(projectedBox([-180, -90, 180, 90]), [-180, -MAX_LATITUDE, 180, MAX_LATITUDE])
  assert.deepEqual(projectedBox([-170, -70, 170, 10]), [-170, -70, 170, 10])
})

test('the address holds filter, view, tab, order, columns, charts and style', () => {
  const state = {
    filter: "name = 'A & B' AND mag >= 4",
    view: { longitude: 5.1, latitude: 52.2, zoom: 7.25 },
    tab: 'charts' as const,
    sort: '-mag',
    hidden: ['a,b', 'c\\d'],
    charts: ['net', 'a\\;b,c;by=d\\\\'],
    look: {
      color: 'mag',
      size: 'depth',
      label: 'place, near',
      draw: 'hexagons' as const,
      classing: { kind: 'breaks' as const, at: [-1.5, 2, 4.5] },
      sizing: { kind: 'equal' as const },
      ramp: 'viridis' as const,
      isReversed: true,
      opacity: 0.5,
      colors: new Map([
        ['a:b,c & 100 %', '#aabbcc'],
        ['', '#000000'],
      ]),
    },
    time: 'updated',
    classes: 'all' as const,
    selected: 'us1000ch60',
  }
  const written = writeAddress(new URLSearchParams('other=1'), state)
  assert.deepEqual(readAddress(new URLSearchParams(written.toString())), state)
  assert.equal(written.get('other'), '1')
  const cleared = { filter: '', view: null, tab: 'table' as const, sort: '', hidden: [], charts: null }
  const empty = writeAddress(written, {
    ...cleared,
    look: DEFAULT_LOOK,
    time: '',
    classes: 'filtered',
    selected: null,
  })
  assert.equal(empty.toString(), 'other=1')
})

test('what is not a look is the usual one', () => {
  const query = 'draw=lava&classing=3,2&sizing=x&ramp=rainbow&opacity=9&colors=a:red,%25:112233'
  assert.deepEqual(readAddress(new URLSearchParams(query)).look, DEFAULT_LOOK)
})

test('classes contain each number once, with the breaks of the legend', () => {
  const summary = { min: 0, max: 10, fifths: [1, 1, 3.5, 8] }
  const kinds = ['quantiles', 'equal'] as const
  assert.deepEqual(
    kinds.map((kind) => numberScale(summary, { kind }, false).breaks),
    [
      [1, 3.5, 8],
      [2, 4, 6, 8],
    ],
  )
  // An integer is at least 3.5 if it is at least 4.
  assert.deepEqual(numberScale(summary, { kind: 'quantiles' }, true).breaks, [1, 4, 8])
  const scale = {
    ...numberScale(summary, { kind: 'quantiles' }, true),
    column: 'n',
    rows: 'all',
    nulls: 3,
  } as const
  const labels = legendOf(scale, DEFAULT_LOOK, 'light', String).map(({ label }) => label)
  assert.deepEqual(labels, ['0', '1 – 3', '4 – 7', '8 – 10', 'no value'])
  const continuous = numberScale(
    { min: 2.4, max: 6.4, fifths: [2.5, 3, 3.4, 4] },
    { kind: 'continuous' },
    false,
  )
  assert.ok(sizeOf(continuous, 6.4) > 5 * sizeOf(continuous, 2.4), 'M6.4 does not look like M2.4')
})

test('a circle has the radius that was asked for, on the sphere', () => {
  for (const middle of [
    [8.5, 47.4],
    [0, 0],
    [100, -70],
  ] as [number, number][]) {
    const ring = circleAround(middle, 250)
    assert.deepEqual(ring[0], ring.at(-1))
    for (const place of ring) assert.ok(Math.abs(kilometersBetween(middle, place) - 250) < 0.1)
  }
})

test('the ends of a range are read as the column’s type', () => {
  assert.equal(parseEnd(' 4,5 ', 'number'), 4.5)
  assert.equal(parseEnd('', 'number'), null)
  assert.equal(parseEnd('four', 'number'), undefined)
  assert.equal(parseEnd('2018-02-01', 'timestamp'), '2018-02-01T00:00:00Z')
  assert.equal(parseEnd('2018-02-01 12:30', 'timestamp'), '2018-02-01T12:30:00Z')
  assert.equal(parseEnd('2018-02-01T12:30+02:00', 'timestamp'), '2018-02-01T10:30:00Z')
  assert.equal(parseEnd('2018-02-01', 'date'), '2018-02-01')
})

test('the statistics of a dataset give the facets of all rows', () => {
  const statistics = {
    mag: { nulls: 1, distinct: 3, isExact: true, min: 0, max: 4, histogram: [1, 2] },
    net: { nulls: 0, distinct: 2, isExact: true, frequent: [{ value: 'us', count: 3 }] },
  }
  const dataset = { rows: 4, statistics } as never
  assert.deepEqual(facetOfStatistics({ name: 'mag', type: 'number', nullable: true }, dataset), {
    type: 'number',
    nulls: 1,
    histogram: [
      { from: 0, to: 2, count: 1 },
      { from: 2, to: 4, count: 2 },
    ],
  })
  assert.deepEqual(facetOfStatistics({ name: 'net', type: 'text', nullable: false }, dataset), {
    type: 'text',
    nulls: 0,
    values: [{ value: 'us', count: 3 }],
    others: 1,
  })
})

test('a basemap gets names of its own and absolute addresses', () => {
  const style = {
    version: 8 as const,
    glyphs: 'fonts/{fontstack}/{range}.pbf',
    sprite: 'https://tiles.example.org/sprite',
    sources: {
      data: { type: 'vector' as const, tiles: ['/tiles/{z}/{x}/{y}.pbf'] },
      land: { type: 'geojson' as const, data: 'land.json' },
    },
    layers: [
      { id: 'points', type: 'fill' as const, source: 'data', 'source-layer': 'water' },
      {
        id: 'names',
        type: 'symbol' as const,
        source: 'land',
        layout: { 'text-font': ['Noto Sans Regular'] },
      },
    ],
  }
  const background = backgroundOf(style, 'https://tiles.example.org/styles/quiet/style.json')
  assert.deepEqual(background.sources, {
    'base:data': { type: 'vector', tiles: ['https://tiles.example.org/tiles/{z}/{x}/{y}.pbf'] },
    'base:land': { type: 'geojson', data: 'https://tiles.example.org/styles/quiet/land.json' },
  })
  assert.equal(background.glyphs, 'https://tiles.example.org/styles/quiet/fonts/{fontstack}/{range}.pbf')
  assert.deepEqual(
    [...background.layers, ...background.names].map(({ id }) => id),
    ['base:points', 'base:names'],
  )
  assert.deepEqual(background.font, ['Noto Sans Regular'])
})

test('vector layers of a PMTiles file are drawn by their names, land first and names last', () => {
  const names = ['places', 'roads', 'water', 'earth', 'pois', 'something_else']
  const layers = vectorLayers(names, PALETTES.light)
  assert.deepEqual(
    layers.map(({ id, type }) => `${id} ${type}`),
    ['earth fill', 'water fill', 'roads line', 'something_else line', 'places symbol'],
  )
})

test('what changed between two versions is told in counts', () => {
  const version = (rows: number, ...columns: [string, string][]) =>
    ({ rows, columns: columns.map(([name, type]) => ({ name, type, nullable: false })) }) as never
  const before = version(10, ['a', 'text'], ['b', 'text'])
  assert.equal(versionChanges(before, undefined), null)
  assert.equal(versionChanges(version(10, ['a', 'text'], ['b', 'text']), before), 'same number of rows')
  assert.equal(
    versionChanges(version(1009, ['a', 'integer'], ['c', 'text'], ['d', 'text']), before),
    '+999 rows, 2 new columns, 1 column removed, 1 column of another type',
  )
  assert.equal(versionChanges(version(9, ['a', 'text'], ['b', 'text']), before), '−1 row')
})

test('a value keeps its color under a filter, and others get the colors that are left', () => {
  assert.deepEqual(keepColors(['IT', 'DE'], ['US', 'IT', 'MX', 'FR', 'DE']), [1, 4])
  assert.deepEqual(keepColors(['XX', 'US', 'YY'], ['US', 'IT']), [1, 0, 2])
  assert.deepEqual(keepColors([true, false], [false, true]), [1, 0])
  const values = fc.uniqueArray(fc.integer({ min: 0, max: 20 }), { maxLength: 8 })
  fc.assert(
    fc.property(values, values, (shown, whole) => {
      const colors = keepColors(shown, whole)
      assert.equal(new Set(colors).size, shown.length, 'no two values share a color')
      assert.ok(colors.every((color) => color >= 0 && color < 8))
    }),
  )
})
