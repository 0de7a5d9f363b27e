import type { Geometry } from '../../feature.ts'
import type { FixtureFeature } from './compiled-fixture.ts'

const square = (x: number, y: number, size: number) => [
  [x, y],
  [x + size, y],
  [x + size, y + size],
  [x, y + size],
  [x, y],
]
const hole = (x: number, y: number, size: number) => square(x, y, size).toReversed()

const SHAPES: (Geometry | null)[] = [
  { type: 'Point', coordinates: [13.404954000000002, 52.520008] },
  { type: 'Point', coordinates: [-0.1, 1e-7] },
  {
    type: 'MultiPoint',
    coordinates: [
      [1, 2],
      [3.5, -4.25],
    ],
  },
  {
    type: 'LineString',
    coordinates: [
      [10, 10],
      [11, 11],
      [12, 10],
    ],
  },
  {
    type: 'MultiLineString',
    coordinates: [
      [
        [20, 20],
        [21, 21],
      ],
      [
        [22, 20],
        [23, 21],
        [24, 20],
      ],
    ],
  },
  { type: 'Polygon', coordinates: [square(30, 30, 4), hole(31, 31, 1), hole(32.5, 32.5, 1)] },
  { type: 'MultiPolygon', coordinates: [[square(40, 40, 2)], [square(45, 40, 3), hole(46, 41, 1)]] },
  {
    type: 'GeometryCollection',
    geometries: [
      { type: 'Point', coordinates: [50, 50] },
      {
        type: 'LineString',
        coordinates: [
          [51, 50],
          [52, 51],
        ],
      },
      { type: 'Polygon', coordinates: [square(53, 50, 1)] },
      { type: 'Point', coordinates: [55, 50] },
    ],
  },
  null,
  { type: 'Polygon', coordinates: [] },
]

const TEXTS = [
  'Überlingen, "am See"',
  'line one\nline two\r\nand a tab\there',
  '東京 🗼 a\u0301',
  '<b>&amp; ]]> \u0001\u001f end',
  '=SUM(A1:A9)',
  '',
  null,
  `${'é'.repeat(126)}xé${'long '.repeat(40)}`,
  "o'Brien\\backslash/ \u2028 \ufffe \u007f",
  '  spaces around  ',
]

/** Everything that formats are known to get wrong, in a few features. */
export const NASTY_FEATURES: FixtureFeature[] = SHAPES.map((geometry, i) => ({
  geometry,
  properties: {
    name: TEXTS[i]!,
    'odd "column", <&> name': TEXTS[(i + 3) % TEXTS.length]!,
    huge: [12345678901234567890123n, -98765432109876543210n, null, 7n][i % 4]!,
    large: [9007199254740993n, -9007199254740995n][i % 2]!,
    small: [i, -i, null][i % 3]!,
    ratio: [0.1 + 0.2, 1.7976931348623157e308, 5e-324, -1e21, null, 3][i % 6]!,
    flag: [true, false, null][i % 3]!,
    day: ['2024-02-29', '1969-12-31', null][i % 3]!,
    at: ['2024-02-29T23:59:59Z', '1969-12-31T00:00:00.125Z', null][i % 3]!,
    nested: [{ a: [1, 'zwei "2"', null], b: { c: true } }, [], null][i % 3]!,
    population_2010: i * 1000,
    population_2011: i * 1001,
    populati_1: i * 1002,
    einwohnerzahl_größe: `größe ${i}`,
    nothing: null,
  },
}))

/** Polygons and multi-polygons, with and without heights. */
export const ROOF_FEATURES: FixtureFeature[] = [
  {
    geometry: {
      type: 'Polygon',
      coordinates: [
        [
          [0, 0, 1],
          [4, 0, 2],
          [4, 4, 3],
          [0, 4, 4],
          [0, 0, 1],
        ],
      ],
    },
    properties: { name: 'roof' },
  },
  {
    geometry: {
      type: 'MultiPolygon',
      coordinates: [
        [
          [
            [10, 0, 1.5],
            [14, 0, 2],
            [14, 4, 3],
            [10, 0, 1.5],
          ],
        ],
        [
          [
            [20, 0, 1],
            [24, 0, 2],
            [24, 4, 3],
            [20, 0, 1],
          ],
        ],
      ],
    },
    properties: { name: 'two roofs' },
  },
  { geometry: { type: 'Polygon', coordinates: [square(30, 30, 1)] }, properties: { name: 'floor' } },
]

/** Geometries with heights on all, some and none of their positions. */
export const HIGH_FEATURES: FixtureFeature[] = [
  { geometry: { type: 'Point', coordinates: [1, 2, 3.5] }, properties: { name: 'peak' } },
  { geometry: { type: 'Point', coordinates: [4, 5] }, properties: { name: 'plain' } },
  {
    geometry: {
      type: 'LineString',
      coordinates: [
        [1, 1, 10],
        [2, 2, 20.25],
      ],
    },
    properties: { name: 'path' },
  },
  {
    geometry: {
      type: 'Polygon',
      coordinates: [
        [
          [0, 0, 1],
          [4, 0, 2],
          [4, 4, 3],
          [0, 4, 4],
          [0, 0, 1],
        ],
      ],
    },
    properties: { name: 'roof' },
  },
  {
    geometry: {
      type: 'MultiPoint',
      coordinates: [
        [7, 7, -1],
        [8, 8, -2],
      ],
    },
    properties: { name: 'wells' },
  },
]
