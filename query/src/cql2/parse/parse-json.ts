import { type JsonShape, jsonShape } from '@wayleave/geodata/base'
import { GEOMETRY_TYPES, type Geometry, type Value } from '@wayleave/geodata/geometry'
import { ARITY, type Bound, DEFAULT_LIMITS, type Expression, type Limits, operationNamed } from '../ast.ts'
import { Cql2Error } from '../cql2-error.ts'
import {
  boundedInteger,
  checkedBounds,
  checkedGeometry,
  dateValue,
  numberValue,
  timestampValue,
  tooManyPositions,
} from './literals.ts'

/** Parses CQL2 JSON. Throws a Cql2Error. */
export function parseJson(source: string, limits: Limits = DEFAULT_LIMITS): Expression {
  if (source.length > limits.length) {
    throw new Cql2Error(`The filter is longer than ${limits.length} characters.`)
  }
  // An operation nests two brackets, the coordinates of a geometry up to five more.
  const depth = limits.depth * 2 + 8
  // A part has up to four members, a position up to three numbers.
  const commas = limits.nodes * 4 + limits.positions * 3
  // Before they are parsed: JSON.parse recurses when it has a reviver, and would make objects of everything.
  const shape = jsonShape(source, { depth, commas })
  if (shape.depth > depth) throw tooDeep(limits)
  if (shape.commas > commas) throw tooManyNodes(limits)
  return fromJson(parse(source, shape), limits)
}

/** The expression of CQL2 JSON whose text was parsed already. Throws a Cql2Error. */
export function fromJson(value: Value, limits: Limits): Expression {
  let nodes = 0
  let positions = 0
  const countNode = () => {
    if (++nodes > limits.nodes) throw tooManyNodes(limits)
  }
  const countPosition = () => {
    if (++positions > limits.positions) throw tooManyPositions(limits)
  }
  return expression(value, '$', 1, { limits, countNode, countPosition })
}

interface Context {
  limits: Limits
  countNode: () => void
  countPosition: () => void
}

function tooManyNodes({ nodes }: Limits): Cql2Error {
  return new Cql2Error(`The filter has more than ${nodes} parts.`)
}

function tooDeep({ depth }: Limits): Cql2Error {
  return new Cql2Error(`The filter is nested more than ${depth} levels deep.`)
}

/** Integers of 16 digits may be inexact as numbers. Without any, no reviver is needed, which takes ten times as long. */
const LONG_INTEGER = 16

// The reviver's third argument is newer than TypeScript's library types.
type Reviver = (name: string, value: Value, context: { source?: string }) => Value
const parseWith = JSON.parse as (source: string, reviver: Reviver) => Value

function parse(source: string, { integerDigits }: JsonShape): Value {
  try {
    if (integerDigits < LONG_INTEGER) return JSON.parse(source) as Value
    return parseWith(source, (_name, value, context) => {
      const isLarge = typeof value === 'number' && !Number.isSafeInteger(value)
      const digits = context.source ?? ''
      return isLarge && /^-?\d+$/.test(digits) ? numberValue(digits, 'of the filter') : value
    })
  } catch (error) {
    if (error instanceof Cql2Error) throw error
    throw new Cql2Error(`The filter is not valid JSON: ${(error as Error).message}.`)
  }
}

function expression(value: Value, path: string, depth: number, context: Context): Expression {
  const at = `at ${path}`
  context.countNode()
  if (depth > context.limits.depth) throw tooDeep(context.limits)
  if (typeof value === 'string') return { kind: 'literal', value: wellFormed(value, at), at }
  if (typeof value === 'boolean') return { kind: 'literal', value, at }
  if (typeof value === 'bigint') return { kind: 'literal', value: boundedInteger(value, at), at }
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new Cql2Error(`The number ${at} is too large.`)
    return { kind: 'literal', value: value + 0, at }
  }
  if (Array.isArray(value)) {
    const items = value.map((item, i) => expression(item, `${path}[${i}]`, depth + 1, context))
    return { kind: 'array', items, at }
  }
  if (value === null) throw new Cql2Error(`The filter has null ${at}, which is not a value: use isNull.`)
  if ('op' in value) return operation(value, path, depth, context)
  if ('property' in value) return { kind: 'property', name: textOf(value, 'property', at), at }
  if ('date' in value) return { kind: 'date', value: dateValue(textOf(value, 'date', at), at), at }
  if ('timestamp' in value) {
    return { kind: 'timestamp', value: timestampValue(textOf(value, 'timestamp', at), at), at }
  }
  if ('interval' in value) return interval(value['interval']!, path, depth, context)
  if ('bbox' in value && !('type' in value)) return bbox(value['bbox']!, at)
  if ('type' in value) return { kind: 'geometry', geometry: geometry(value, at, context), at }
  throw new Cql2Error(
    `The object ${at} is none of an operation (op, args), a property, a date, a timestamp, an interval, a bbox or a geometry.`,
  )
}

function operation(
  value: { [name: string]: Value },
  path: string,
  depth: number,
  context: Context,
): Expression {
  const at = `at ${path}`
  const name = textOf(value, 'op', at)
  const op = operationNamed(name)
  if (op === undefined) throw new Cql2Error(`The operation ${name} ${at} is not one that this service has.`)
  const rawArgs = value['args']
  if (!Array.isArray(rawArgs)) throw new Cql2Error(`The operation ${name} ${at} lacks an array of args.`)
  const [min, max] = ARITY[op]
  if (rawArgs.length < min || (max !== null && rawArgs.length > max)) {
    const count = max === null ? `at least ${min}` : min === 1 ? 'one' : String(min)
    throw new Cql2Error(`The operation ${name} ${at} takes ${count} args.`)
  }
  const args = rawArgs.map((arg, i) => expression(arg, `${path}.args[${i}]`, depth + 1, context))
  if (op === 'in' && args[1]!.kind !== 'array')
    throw new Cql2Error(`The second of the args of in ${at} is not an array.`)
  return { kind: 'call', op, args, at }
}

function interval(value: Value, path: string, depth: number, context: Context): Expression {
  const at = `at ${path}`
  if (!Array.isArray(value) || value.length !== 2)
    throw new Cql2Error(`The interval ${at} is not an array of two.`)
  const [start, end] = value.map((bound, i): Bound => {
    return bound === '..' ? null : expression(bound, `${path}.interval[${i}]`, depth + 1, context)
  })
  return { kind: 'interval', start: start!, end: end!, at }
}

function bbox(value: Value, at: string): Expression {
  if (!Array.isArray(value)) throw new Cql2Error(`The bbox ${at} is not an array of numbers.`)
  const bounds = value.map((bound) => (typeof bound === 'bigint' ? Number(bound) : (bound as number)))
  return { kind: 'bbox', bounds: checkedBounds(bounds, at), at }
}

function geometry(value: Value, at: string, context: Context): Geometry {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new Cql2Error(`The geometry ${at} is not an object.`)
  }
  const type = GEOMETRY_TYPES.find((name) => name === value['type'])
  if (type === undefined) throw new Cql2Error(`The geometry ${at} has a type that GeoJSON does not define.`)
  if (type === 'GeometryCollection') {
    const members = value['geometries']
    if (!Array.isArray(members)) throw new Cql2Error(`The geometry ${at} lacks an array of geometries.`)
    return { type, geometries: members.map((member) => geometry(member, at, context)) }
  }
  const checked = { type, coordinates: value['coordinates'] } as Geometry
  return checkedGeometry(checked, at, context.countPosition)
}

function textOf(value: { [name: string]: Value }, name: string, at: string): string {
  const text = value[name]
  if (typeof text !== 'string') throw new Cql2Error(`The ${name} ${at} is not a text.`)
  return wellFormed(text, at)
}

function wellFormed(text: string, at: string): string {
  if (!text.isWellFormed()) throw new Cql2Error(`The text ${at} is not valid Unicode.`)
  return text
}
