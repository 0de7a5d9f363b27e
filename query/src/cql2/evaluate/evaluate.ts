import type { Geometry, PreparedGeometry } from '@wayleave/geodata/geometry'
import type { ArithmeticStep, Condition, Scalar, Spatial } from '../condition.ts'
import { foldedName } from '../folded-name.ts'
import { boundedRelation } from './bounded-relation.ts'
import { evaluateArray } from './evaluate-array.ts'
import type { FeatureValues, Reader, ScalarValue, Test } from './feature-values.ts'
import { foldText } from './fold-text.ts'
import { likeMatcher } from './like.ts'
import { prepareLiteral } from './prepare-literal.ts'

/** The folded texts that a filter reads, by the name of their fold and column. */
type FoldReaders = Map<string, Reader<ScalarValue>>

/** Compiles a condition to a function that returns true, false or, if unknown, null. */
export function evaluator(condition: Condition): Test {
  return testOf(condition, new Map())
}

function testOf(condition: Condition, folds: FoldReaders): Test {
  const evaluator = (part: Condition) => testOf(part, folds)
  const reader = (scalar: Scalar) => readerOf(scalar, folds)
  switch (condition.kind) {
    case 'constant':
      return () => condition.value
    case 'and':
      return all(condition.args.map(evaluator), false)
    case 'or':
      return all(condition.args.map(evaluator), true)
    case 'not': {
      const arg = evaluator(condition.arg)
      return (feature) => negated(arg(feature))
    }
    case 'compare': {
      const left = reader(condition.left)
      const right = reader(condition.right)
      const holds = HOLDS[condition.op]
      return (feature) => decided(left(feature), right(feature), (a, b) => holds(order(a, b)))
    }
    case 'in':
      return inList(reader(condition.left), condition.items.map(reader))
    case 'like': {
      const text = reader(condition.text)
      const matches = likeMatcher(condition.pattern)
      return (feature) => {
        const value = text(feature)
        return value === null ? null : matches(value as string)
      }
    }
    case 'truth':
      return reader(condition.of) as Test
    case 'isNull':
      return isNull(condition.of, folds)
    case 'spatial':
      return spatial(condition)
    case 'array':
      return evaluateArray(condition, reader)
  }
}

/** False decides a conjunction, true a disjunction. Otherwise one unknown member makes the result unknown. */
function all(tests: Test[], deciding: boolean): Test {
  return (feature) => {
    let result: boolean | null = !deciding
    for (const member of tests) {
      const value = member(feature)
      if (value === deciding) return deciding
      if (value === null) result = null
    }
    return result
  }
}

function negated(value: boolean | null): boolean | null {
  return value === null ? null : !value
}

function decided<T>(a: T | null, b: T | null, decide: (a: T, b: T) => boolean): boolean | null {
  return a === null || b === null ? null : decide(a, b)
}

const HOLDS: Record<(Condition & { kind: 'compare' })['op'], (order: number) => boolean> = {
  '=': (sign) => sign === 0,
  '<>': (sign) => sign !== 0,
  '<': (sign) => sign < 0,
  '<=': (sign) => sign <= 0,
  '>': (sign) => sign > 0,
  '>=': (sign) => sign >= 0,
}

/**
 * Compares two values of the same type. Strings are ordered by code points, which is the order of their UTF-8
 * bytes.
 */
function order(a: ScalarValue, b: ScalarValue): number {
  if (typeof a === 'string') return orderText(a, b as string)
  return a < b ? -1 : a > b ? 1 : 0
}

export function orderText(a: string, b: string): number {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const difference = a.charCodeAt(i) - b.charCodeAt(i)
    if (difference === 0) continue
    // Surrogates encode code points above all those that fit into one UTF-16 code unit.
    const isHighA = isSurrogate(a.charCodeAt(i))
    const isHighB = isSurrogate(b.charCodeAt(i))
    return isHighA === isHighB ? difference : isHighA ? 1 : -1
  }
  return a.length - b.length
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff
}

function inList(left: Reader<ScalarValue>, items: Reader<ScalarValue>[]): Test {
  const equals = items.map((item): Test => {
    return (feature) => decided(left(feature), item(feature), (a, b) => order(a, b) === 0)
  })
  return all(equals, true)
}

function isNull(of: (Condition & { kind: 'isNull' })['of'], folds: FoldReaders): Test {
  if (of.kind === 'geometry') return ({ geometry }) => geometry === null
  if (of.kind === 'json') return ({ properties }) => (properties[of.name] ?? null) === null
  const read: Reader<ScalarValue> = 'type' in of ? readerOf(of, folds) : testOf(of, folds)
  return (feature) => read(feature) === null
}

function spatial({ predicate, left, right }: Condition & { kind: 'spatial' }): Test {
  const shapeOf = (operand: Spatial): Reader<Geometry | PreparedGeometry> => {
    if (operand.kind === 'geometry') return ({ geometry }) => geometry
    const shape = prepareLiteral(operand.geometry)
    return () => shape
  }
  const a = shapeOf(left)
  const b = shapeOf(right)
  return (feature) => decided(a(feature), b(feature), (one, other) => boundedRelation(predicate, one, other))
}

/** Compiles a scalar to a function. An arithmetic result that is not finite is null. */
function readerOf(scalar: Scalar, folds: FoldReaders): Reader<ScalarValue> {
  const read = rawReaderOf(scalar, folds)
  const isReal = (scalar.kind === 'arithmetic' || scalar.kind === 'power') && scalar.type === 'number'
  if (!isReal) return read
  return (feature) => {
    const value = read(feature)
    return Number.isFinite(value) ? value : null
  }
}

function rawReaderOf(scalar: Scalar, folds: FoldReaders): Reader<ScalarValue> {
  const rawReader = (part: Scalar) => rawReaderOf(part, folds)
  switch (scalar.kind) {
    case 'literal': {
      const value = scalar.value === '-infinity' ? '' : scalar.value === 'infinity' ? '~' : scalar.value
      const literal = scalar.type === 'text' ? scalar.value : value
      return () => literal
    }
    case 'column':
      return columnReader(scalar)
    case 'arithmetic': {
      const left = rawReader(scalar.left)
      const right = rawReader(scalar.right)
      const step = scalar.type === 'integer' ? INTEGER_STEPS[scalar.op]! : NUMBER_STEPS[scalar.op]
      return (feature) => {
        const a = left(feature)
        const b = right(feature)
        return a === null || b === null ? null : step(a as never, b as never)
      }
    }
    case 'power': {
      const base = rawReader(scalar.base)
      return (feature) => {
        const value = base(feature)
        return value === null ? null : power(value as number, scalar.exponent)
      }
    }
    case 'toNumber': {
      const integer = readerOf(scalar.of, folds)
      return (feature) => {
        const value = integer(feature)
        return value === null ? null : nearestDouble(value as bigint)
      }
    }
    case 'toDate': {
      const timestamp = rawReader(scalar.of)
      return (feature) => (timestamp(feature) as string | null)?.slice(0, 10) ?? null
    }
    case 'fold':
      return foldReader(scalar, folds)
    case 'condition':
      return testOf(scalar.of, folds)
  }
}

/** Folding takes far longer than comparing, so all conditions of a filter on the same folded text share it. */
function foldReader(scalar: Scalar & { kind: 'fold' }, folds: FoldReaders): Reader<ScalarValue> {
  const name = foldedName(scalar)
  const shared = folds.get(name)
  if (shared) return shared
  const text = rawReaderOf(scalar.of, folds)
  let lastFeature: FeatureValues | null = null
  let folded: string | null = null
  const read = (feature: FeatureValues) => {
    if (feature !== lastFeature) {
      const value = text(feature)
      folded = value === null ? null : foldText(scalar.fold, value as string)
      lastFeature = feature
    }
    return folded
  }
  folds.set(name, read)
  return read
}

function columnReader({ name, type }: Scalar & { kind: 'column' }): Reader<ScalarValue> {
  const value = ({ properties }: FeatureValues) => (properties[name] ?? null) as ScalarValue | null
  if (type === 'integer') {
    return (feature) => {
      const integer = value(feature)
      return integer === null ? null : BigInt(integer as number | bigint)
    }
  }
  if (type === 'number') {
    return (feature) => {
      const number = value(feature)
      return number === null ? null : Number(number)
    }
  }
  if (type === 'timestamp') {
    return (feature) => {
      const timestamp = value(feature) as string | null
      return timestamp === null ? null : sortable(timestamp)
    }
  }
  return value
}

/** Removes the Z and the trailing zeros of the fraction, so that timestamps sort by time as strings. */
function sortable(timestamp: string): string {
  const text = timestamp.slice(0, -1)
  return text.length > 19 ? text.replace(/\.?0+$/, '') : text
}

// The range of DuckDB's HUGEINT. Values outside it are null there, so they are null here too.
const LARGEST = 2n ** 127n - 1n
const SMALLEST = -LARGEST - 1n
const within = (value: bigint): bigint | null => (value > LARGEST || value < SMALLEST ? null : value)

/** DuckDB multiplies the absolute values, so a product of exactly the smallest integer overflows there. */
function multiply(a: bigint, b: bigint): bigint | null {
  const product = a * b
  return product === SMALLEST && a !== 1n && b !== 1n ? null : within(product)
}

const INTEGER_STEPS: Partial<Record<ArithmeticStep, (a: bigint, b: bigint) => bigint | null>> = {
  '+': (a, b) => within(a + b),
  '-': (a, b) => within(a - b),
  '*': multiply,
  '%': (a, b) => (b === 0n ? null : a % b),
  div: (a, b) => (b === 0n ? null : within(a / b)),
}

const NUMBER_STEPS: Record<ArithmeticStep, (a: number, b: number) => number | null> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => (b === 0 ? null : a / b),
  '%': (a, b) => (b === 0 ? null : a % b),
  div: (a, b) => (b === 0 ? null : Math.trunc(a / b)),
  '^': (a, b) => a ** b,
}

function power(base: number, exponent: number): number | null {
  if (exponent === 0) return base * 0 + 1
  let product = base
  for (let i = 1; i < Math.abs(exponent); i++) product *= base
  if (exponent > 0) return product
  return product === 0 ? null : 1 / product
}

const WORD = 2n ** 64n

/** Rounds like DuckDB: 64-bit integers in one step, wider integers as the sum of two rounded halves. */
function nearestDouble(value: bigint): number {
  if (BigInt.asIntN(64, value) === value) return Number(value)
  const low = BigInt.asUintN(64, value)
  return Number(low) + Number((value - low) / WORD) * 2 ** 64
}
