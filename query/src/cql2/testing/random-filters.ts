import type { Column, Geometry, Position, Value } from '@wayleave/geodata/geometry'
import fc from 'fast-check'
import { ARRAY, COMPARISONS, type Expression, type Operation, SPATIAL, TEMPORAL } from '../ast.ts'

const column = (name: string, type: Column['type']): Column => ({ name, type, nullable: true })

/** Some names are those that the SQL uses internally, and one is an injection attempt. */
export const COLUMNS: Column[] = [
  column('flag', 'boolean'),
  column('count', 'integer'),
  column('letter', 'integer'),
  column('wide', 'integer'),
  column('number', 'number'),
  column('base', 'number'),
  column('text', 'text'),
  column('folded', 'text'),
  column('"; DROP TABLE t; --', 'text'),
  column('date', 'date'),
  column('until', 'date'),
  column('time', 'timestamp'),
  column('end', 'timestamp'),
  column('tags', 'json'),
]

const units = [
  'a',
  'A',
  'b',
  'ß',
  'ẞ',
  's',
  'S',
  'é',
  'e\u{301}',
  'Σ',
  'ς',
  'İ',
  'ﬁ',
  'が',
  '\u{ffee}',
  '👍',
  '%',
  '_',
]
const text = fc.array(fc.constantFrom(...units, "'", '"', ' '), { maxLength: 4 }).map((list) => list.join(''))
const integer = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: -4, max: 4 }) },
  fc.constantFrom<number | bigint>(
    2 ** 53 - 1,
    2n ** 53n + 1n,
    2n ** 63n - 1n,
    -(2n ** 63n),
    10n ** 17n + 1n,
  ),
)
const wide = fc.oneof(
  integer,
  fc.constantFrom(
    10n ** 38n - 1n,
    1n - 10n ** 38n,
    2n ** 64n,
    2n ** 64n + 2049n,
    -(2n ** 64n) - 1n,
    2n ** 100n + 1n,
  ),
)
const number = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: -8, max: 8 }).map((n) => n / 2) },
  fc.constantFrom(0.1, -0.3, 1e300, -1e300, 5e-324, 2 ** 53, 9.2e18, 1e39),
)
const date = fc.constantFrom(
  '0001-01-01',
  '1999-12-31',
  '2020-02-28',
  '2020-02-29',
  '2020-03-01',
  '9999-12-31',
)
const time = fc
  .tuple(date, fc.constantFrom('00:00:00', '00:00:00.000001', '12:30:00', '12:30:00.5', '23:59:59.999999'))
  .map(([day, clock]) => `${day}T${clock}`)

const place = fc.tuple(
  fc.integer({ min: 0, max: 4 }),
  fc.integer({ min: 0, max: 4 }),
) as fc.Arbitrary<Position>
const rectangle = fc
  .tuple(place, fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 3 }))
  .map(([[x, y], width, height]): Geometry => {
    const [west, south, east, north] = [x!, y!, x! + width, y! + height]
    const ring = [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
      [west, south],
    ]
    return { type: 'Polygon', coordinates: [ring] }
  })
const geometry: fc.Arbitrary<Geometry> = fc.oneof(
  place.map((coordinates): Geometry => ({ type: 'Point', coordinates })),
  fc
    .uniqueArray(place, { minLength: 2, maxLength: 3, selector: String })
    .map((coordinates): Geometry => ({ type: 'LineString', coordinates })),
  rectangle,
  fc.array(place, { maxLength: 3 }).map((coordinates): Geometry => ({ type: 'MultiPoint', coordinates })),
)

export interface Row {
  values: { [name: string]: Value }
  geometry: Geometry | null
}

const nullable = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { freq: 4 })
const tag = fc.oneof(fc.constantFrom('a', 'b', '2020-02-29'), fc.integer({ min: 1, max: 2 }), fc.boolean())

const cells: fc.Arbitrary<Value>[] = [
  fc.boolean(),
  integer,
  integer,
  wide,
  number,
  number,
  text,
  text,
  text,
  date,
  date,
  time.map((value) => `${value}Z`),
  time.map((value) => `${value}Z`),
  fc.array(tag, { maxLength: 3 }),
]

export const row: fc.Arbitrary<Row> = fc
  .tuple(fc.tuple(...cells.map((cell) => nullable(cell))), nullable(geometry))
  .map(([values, shape]) => ({
    values: Object.fromEntries(COLUMNS.map(({ name }, i) => [name, values[i] as Value])),
    geometry: shape,
  }))

const at = ''
const literal = (value: string | number | bigint | boolean): Expression => ({ kind: 'literal', value, at })
const property = (...names: string[]) =>
  fc.constantFrom(...names).map((name): Expression => ({ kind: 'property', name, at }))
const call = (op: Operation, ...args: Expression[]): Expression => ({ kind: 'call', op, args, at })

const instant = fc.oneof(
  property('date', 'until', 'time', 'end'),
  date.map((value): Expression => ({ kind: 'date', value, at })),
  time.map((value): Expression => ({ kind: 'timestamp', value, at })),
)
const bound = fc.oneof(property('date', 'until', 'time', 'end'), fc.constant(null))
const interval = fc.oneof(
  fc.tuple(bound, bound).map(([start, end]): Expression => ({ kind: 'interval', start, end, at })),
  fc.tuple(nullable(date), nullable(date)).map(([start, end]): Expression => {
    return {
      kind: 'interval',
      start: start === null ? null : literal(start),
      end: end === null ? null : literal(end),
      at,
    }
  }),
  fc.tuple(time, nullable(time)).map(([start, end]): Expression => {
    return {
      kind: 'interval',
      start: literal(`${start}Z`),
      end: end === null ? null : literal(`${end}Z`),
      at,
    }
  }),
)
const FOR_INSTANTS = ['t_after', 't_before', 't_disjoint', 't_equals', 't_intersects'] as const
const temporal = fc.oneof(
  fc.tuple(fc.constantFrom(...TEMPORAL), interval, interval).map(([op, a, b]) => call(op, a, b)),
  fc
    .tuple(fc.constantFrom(...FOR_INSTANTS), instant, fc.oneof(instant, interval))
    .map(([op, a, b]) => call(op, a, b)),
)

const shape = fc.oneof(
  geometry.map((value): Expression => ({ kind: 'geometry', geometry: value, at })),
  fc.tuple(place, place).map(([a, b]): Expression => {
    const bounds = [a[0]!, Math.min(a[1]!, b[1]!), b[0]!, Math.max(a[1]!, b[1]!)]
    return { kind: 'bbox', bounds, at }
  }),
)
const spatial = fc
  .tuple(
    fc.constantFrom(...SPATIAL),
    property('geometry'),
    fc.oneof({ weight: 9, arbitrary: shape }, property('geometry')),
    fc.boolean(),
  )
  .map(([op, a, b, isSwapped]) => (isSwapped ? call(op, b, a) : call(op, a, b)))

const elements = fc.array(tag, { maxLength: 3 }).map((items): Expression => {
  return { kind: 'array', items: items.map(literal), at }
})
const array = fc
  .tuple(fc.constantFrom(...ARRAY), property('tags'), fc.oneof(elements, property('tags')))
  .map(([op, a, b]) => call(op, a, b))

const pattern = fc
  .array(fc.constantFrom(...units, '%', '%', '_', '\\%', '\\_', '\\\\', '\\a'), { maxLength: 5 })
  .map((list) => literal(list.join('')))

/** Filters that pass the check: every type and operation, nested. */
export const { filter } = fc.letrec<{ filter: Expression; numeric: Expression; textual: Expression }>(
  (tie) => ({
    numeric: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      property('count', 'letter', 'wide', 'number', 'base'),
      fc.oneof(wide, number).map(literal),
      fc
        .tuple(fc.constantFrom('+', '-', '*', '/', '%', 'div'), tie('numeric'), tie('numeric'))
        .map(([op, a, b]) => call(op as Operation, a, b)),
      fc
        .tuple(tie('numeric'), fc.constantFrom(2, 3, -1, 0, 0.5, 20))
        .map(([base, exponent]) => call('^', base, literal(exponent))),
    ),
    textual: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      property('text', 'folded', '"; DROP TABLE t; --'),
      text.map(literal),
      fc
        .tuple(fc.constantFrom('casei', 'accenti'), tie('textual'))
        .map(([op, a]) => call(op as Operation, a)),
    ),
    filter: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc
        .tuple(fc.constantFrom(...COMPARISONS), tie('numeric'), tie('numeric'))
        .map(([op, a, b]) => call(op, a, b)),
      fc
        .tuple(fc.constantFrom(...COMPARISONS), tie('textual'), tie('textual'))
        .map(([op, a, b]) => call(op, a, b)),
      fc.tuple(fc.constantFrom(...COMPARISONS), instant, instant).map(([op, a, b]) => call(op, a, b)),
      fc
        .tuple(
          fc.constantFrom(...COMPARISONS),
          property('date', 'time'),
          fc.oneof(
            date,
            time.map((t) => `${t}Z`),
          ),
        )
        .map(([op, a, b]) => call(op, a, literal(b))),
      fc.tuple(tie('numeric'), tie('numeric'), tie('numeric')).map((args) => call('between', ...args)),
      fc
        .tuple(tie('numeric'), fc.array(tie('numeric'), { minLength: 1, maxLength: 3 }))
        .map(([a, items]) => call('in', a, { kind: 'array', items, at })),
      fc
        .tuple(tie('textual'), fc.array(tie('textual'), { minLength: 1, maxLength: 3 }))
        .map(([a, items]) => call('in', a, { kind: 'array', items, at })),
      fc.tuple(tie('textual'), pattern).map(([a, b]) => call('like', a, b)),
      fc
        .tuple(property('text', 'folded'), pattern)
        .map(([a, b]) => call('like', call('casei', a), call('casei', b))),
      fc
        .oneof(
          tie('numeric'),
          tie('textual'),
          property('geometry', 'tags', 'flag', 'time', 'date'),
          tie('filter'),
        )
        .map((arg) => call('isNull', arg)),
      property('flag'),
      fc.boolean().map(literal),
      temporal,
      spatial,
      spatial,
      array,
      tie('filter').map((arg) => call('not', arg)),
      fc
        .tuple(fc.constantFrom('and', 'or'), fc.array(tie('filter'), { minLength: 2, maxLength: 3 }))
        .map(([op, args]) => call(op as Operation, ...args)),
      fc.tuple(tie('filter'), tie('filter')).map(([a, b]) => call('=', call('not', a), call('not', b))),
    ),
  }),
)
