import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  countScale,
  DEFAULT_LOOK,
  keepColors,
  legendOf,
  numberScale,
  PALETTES,
  sizeOf,
} from '@wayleave/contract/map-style'
import fc from 'fast-check'
import { versionChanges } from '../src/datasets/version-changes.ts'
import { lookChange, readAddress, shownLook, writeAddress } from '../src/explorer/address.ts'
import { facetOfStatistics } from '../src/explorer/filter/facet.ts'
import { parseEnd } from '../src/explorer/filter/parse-end.ts'
import { backgroundOf } from '../src/explorer/map/basemap.ts'
import { circleAround, kilometersBetween } from '../src/explorer/map/circle-around.ts'
import { canBeSummed, colorColumns, summedColumns } from '../src/explorer/map/color-columns.ts'
import { entryClause, isEntrySelected, selectsEntries } from '../src/explorer/map/legend-picks.ts'
import {
  fittingBox,
  keepOnWorld,
  MAX_LATITUDE,
  minZoom,
  projectedBox,
} from '../src/explorer/map/one-world.ts'
import { vectorLayers } from '../src/explorer/map/pmtiles-style.ts'
import { valueWords } from '../src/explorer/map/value-words.ts'

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
    isFull: true,
  }
  const written = writeAddress(new URLSearchParams('other=1'), state)
  assert.deepEqual(readAddress(new URLSearchParams(written.toString())), { ...state, isStyled: true })
  assert.equal(written.get('other'), '1')
  const cleared = { filter: '', view: null, tab: 'table' as const, sort: '', hidden: [], charts: null }
  const empty = writeAddress(written, {
    ...cleared,
    look: DEFAULT_LOOK,
    time: '',
    classes: 'filtered',
    selected: null,
    isFull: false,
  })
  assert.equal(empty.toString(), 'other=1&color=', 'no colors are a choice')
})

test('colors need a column that the service holds in columns, whatever the number of rows', () => {
  const exact = { nulls: 0, distinct: 5, isExact: true, min: 1 }
  const frequent = [1, 2].map((count) => ({ value: String(count), count }))
  const dataset = {
    rows: 900_000_000,
    columns: [
      { name: 'depth', type: 'number' },
      { name: 'too many numbers', type: 'number' },
      { name: 'beyond 64 bits', type: 'integer' },
      { name: 'kind', type: 'text' },
      { name: 'too many texts', type: 'text' },
      { name: 'nested', type: 'json' },
    ],
    statistics: {
      depth: exact,
      'too many numbers': { ...exact, distinct: 5_000_000, isExact: false },
      'beyond 64 bits': { ...exact, min: undefined },
      kind: { ...exact, frequent },
      'too many texts': { ...exact, distinct: 70_000, isExact: false, frequent },
    },
  } as never
  assert.deepEqual(colorColumns(dataset), ['depth', 'kind', 'too many texts'])
  const summed = ['depth', 'too many numbers', 'beyond 64 bits', 'kind', 'too many texts', 'nested', 'none']
  assert.deepEqual(
    summed.filter((name) => canBeSummed(dataset, name)),
    ['depth', 'kind'],
  )
})

test('a click on an entry of a legend selects its rows, and the legend knows its own filters', () => {
  const about = { column: 'n', rows: 'all', nulls: 3 } as const
  const numbers = {
    ...numberScale({ min: 0, max: 10, fifths: [1, 4] }, { kind: 'quantiles' }, true),
    ...about,
  }
  const kinds = {
    kind: 'categories',
    values: ['a', 'b'],
    colors: [0, 1],
    counts: null,
    others: 4,
    ...about,
  } as const
  const clausesOf = (scale: Parameters<typeof legendOf>[0]) =>
    legendOf(scale, DEFAULT_LOOK, 'light', String).map((entry) => entryClause(scale, entry))
  const range = (from: number | null, to: number | null, isBelow: boolean) =>
    ({ kind: 'range', column: 'n', from, to, isBelow }) as const
  const none = { kind: 'values', column: 'n', values: [], withNull: true } as const
  const values = (...all: string[]) =>
    ({ kind: 'values', column: 'n', values: all, withNull: false }) as const
  assert.deepEqual(clausesOf(numbers), [range(null, 1, true), range(1, 4, true), range(4, null, false), none])
  const changed = { ...kinds, values: [...kinds.values], colors: [...kinds.colors] }
  assert.deepEqual(clausesOf(changed), [values('a'), values('b'), null, none])
  for (const clause of clausesOf(numbers)) assert.ok(selectsEntries(numbers, clause!))
  for (const clause of [range(1, 4, false), range(2, 4, true), range(null, null, false), values('a')])
    assert.equal(selectsEntries(numbers, clause as never), false)
  assert.ok(selectsEntries(changed, values('b', 'a') as never))
  assert.equal(selectsEntries(changed, values('b', 'c') as never), false)
  const selected = legendOf(changed, DEFAULT_LOOK, 'light', String).map((entry) =>
    isEntrySelected(changed, entry, { ...values('b'), withNull: true } as never),
  )
  assert.deepEqual(selected, [false, true, false, true])
})

test('an invalid map look becomes the default one', () => {
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

test('classes of numbers of features grow by a factor, each with a cell in it at its ends', () => {
  const summary = { min: 1, max: 791, fifths: [1, 1, 2, 6] }
  assert.deepEqual(countScale(summary, { kind: 'quantiles' }).breaks, [4, 15, 55, 209])
  assert.deepEqual(countScale({ ...summary, max: 2 }, { kind: 'quantiles' }).breaks, [2])
  assert.deepEqual(countScale({ ...summary, max: 1 }, { kind: 'quantiles' }).breaks, [])
  assert.deepEqual(countScale(summary, { kind: 'breaks', at: [5] }).breaks, [5])
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

test('a map that nobody has styled has the colors of a column that tells much, and none is a choice', () => {
  const exact = { nulls: 0, isExact: true }
  const numbers = { ...exact, distinct: 800, min: 0, max: 9, histogram: [1, 2, 3] }
  const frequent = ['a', 'b'].map((value) => ({ value, count: 500 }))
  const dataset = {
    rows: 1000,
    geometryTypes: ['Point'],
    columns: [
      { name: 'gid', type: 'integer' },
      { name: 'tz', type: 'number' },
      { name: 'mag', type: 'number', title: 'Magnitude' },
      { name: 'kind', type: 'text' },
      { name: 'place', type: 'text' },
    ],
    statistics: {
      gid: { ...numbers, distinct: 1000 },
      tz: numbers,
      mag: numbers,
      kind: { ...exact, distinct: 3, frequent },
      place: { ...exact, distinct: 900, frequent: [{ value: 'x', count: 3 }] },
    },
  }
  const colorOf = (query: string, access: 'all' | 'signed-out', more: object = {}) =>
    shownLook(readAddress(new URLSearchParams(query)), { ...dataset, ...more } as never, access).color
  assert.equal(colorOf('', 'all'), 'mag', 'what the publisher describes')
  assert.equal(colorOf('', 'signed-out'), 'kind', 'numbers need all rows')
  assert.equal(colorOf('color=', 'all'), '')
  assert.equal(colorOf('color=tz', 'all'), 'tz')
  const sizeOf = (query: string, access: 'all' | 'signed-out') =>
    shownLook(readAddress(new URLSearchParams(query)), dataset as never, access).size
  assert.equal(sizeOf('', 'all'), 'mag', 'the largest stands out')
  assert.deepEqual(
    [sizeOf('', 'signed-out'), sizeOf('color=mag', 'all'), sizeOf('color=', 'all')],
    ['', '', ''],
  )
  const shown = { ...DEFAULT_LOOK, color: 'mag', size: 'mag' }
  const { classing } = shown
  assert.deepEqual(lookChange(shown, { size: '' }), { color: 'mag', classing, size: '' }, 'the color stays')
  assert.deepEqual(lookChange(shown, { color: 'tz' }), { color: 'tz', size: 'mag' })
  assert.deepEqual(lookChange(shown, { classing }), { color: 'mag', size: 'mag', classing })
  const classingOf = (histogram: number[]) => {
    const statistics = { ...dataset.statistics, mag: { ...numbers, histogram } }
    const address = readAddress(new URLSearchParams())
    return shownLook(address, { ...dataset, statistics } as never, 'all').classing.kind
  }
  assert.deepEqual([classingOf([5, 4, 3, 2]), classingOf([95, 3, 1, 1])], ['continuous', 'quantiles'])
  assert.deepEqual(lookChange(shown, { opacity: 0.5 }), { opacity: 0.5 })
  assert.equal(colorOf('', 'all', { rows: 5_000_000 }), '', 'all tiles would have to be made')
  const constant = { kind: { ...exact, distinct: 1, frequent: [{ value: 'a', count: 1000 }] } }
  assert.equal(colorOf('', 'signed-out', { statistics: { ...dataset.statistics, ...constant } }), '')
})

test('the values of areas come with the stored tiles, and those of points are summed up', () => {
  const statistics = { mag: { nulls: 0, distinct: 5, isExact: true, min: 1 } }
  const columns = [{ name: 'mag', type: 'number' }]
  const summed = (...geometryTypes: string[]) =>
    summedColumns({ columns, statistics, geometryTypes } as never, { ...DEFAULT_LOOK, color: 'mag' })
  assert.deepEqual(summed('Polygon', 'MultiPolygon'), [])
  assert.deepEqual(summed('Polygon', 'Point'), ['mag'])
})

test('a tooltip tells the value of a feature, and what a circle has of several', () => {
  const column = (type: string) => ({ name: 'n', type, nullable: true }) as never
  assert.equal(valueWords(column('number'), { n: 4.51234 }, false), '4.512')
  assert.equal(valueWords(column('number'), {}, false), 'no value')
  assert.equal(
    valueWords(column('number'), { 'n:mean': 2, 'n:min': -1, 'n:max': 5 }, true),
    'mean 2, -1 to 5',
  )
  assert.equal(valueWords(column('number'), { n: 3.25, count: 9 }, true), 'mean 3.25', 'a hexagon')
  assert.equal(valueWords(column('text'), { 'n:top': 'us', 'n:share': 0.617 }, true), 'mostly us, 62%')
  assert.equal(valueWords(column('text'), {}, true), null)
})
