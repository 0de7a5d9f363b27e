import type { Column } from '@wayleave/geodata/geometry'
import { type Manifest, queryColumn } from '@wayleave/geodata/snapshot'
import {
  type Dimension,
  MAX_DIMENSIONS,
  MAX_MEASURES,
  type Measure,
  type Named,
  PERIODS,
} from '@wayleave/query'
import { invalidInput } from '../../base/problem.ts'
import { type Call, readCallList } from './call-list.ts'

const MAX_ZOOM = 22
const MAX_RESOLUTION = 15
const MAX_QUANTILES = 1000
export const MEASURES = [
  'count',
  'distinct',
  'sum',
  'mean',
  'min',
  'max',
  'median',
  'percentile',
  'stddev',
  'first',
  'last',
  'area',
  'length',
] as const

/** A dimension as it is requested: the dataset of zones is found later. */
export type RequestedDimension = Named<
  Exclude<Dimension, { kind: 'within' }> | { kind: 'within'; table: string; label: string | null }
>

export function readDimensions(text: string | undefined, manifest: Manifest): RequestedDimension[] {
  if (text === undefined || text === '') return []
  const calls = readCallList('groupby', text)
  if (calls.length > MAX_DIMENSIONS)
    throw invalidInput('groupby', `must have at most ${MAX_DIMENSIONS} parts`)
  return distinct(
    'groupby',
    calls.map((call) => readDimension(call, manifest)),
  )
}

export function readMeasures(text: string | undefined, manifest: Manifest): Named<Measure>[] {
  if (text === undefined || text === '') return [{ kind: 'count', name: 'count' }]
  const calls = readCallList('measures', text)
  if (calls.length > MAX_MEASURES) throw invalidInput('measures', `must have at most ${MAX_MEASURES} parts`)
  return distinct(
    'measures',
    calls.map((call) => readMeasure(call, manifest)),
  )
}

function distinct<T extends { name: string }>(parameter: string, parts: T[]): T[] {
  for (const [i, { name }] of parts.entries()) {
    if (parts.findIndex((part) => part.name === name) < i)
      throw invalidInput(parameter, `has "${name.slice(0, 80)}" more than once`)
  }
  return parts
}

function readDimension(call: Call, manifest: Manifest): RequestedDimension {
  const { name, args, text } = call
  if (args === null) return { kind: 'column', column: columnOf('groupby', name, manifest).name, name: text }
  const period = PERIODS.find((each) => each === name)
  if (period) {
    const types = period === 'hour' ? (['timestamp'] as const) : (['date', 'timestamp'] as const)
    return { kind: 'period', period, column: argumentOf('groupby', call, 1, manifest, types), name: text }
  }
  switch (name) {
    case 'interval': {
      const column = argumentOf('groupby', call, 2, manifest, NUMBERS)
      return {
        kind: 'interval',
        column,
        width: numberOf(call, 1, Number.MIN_VALUE, Number.MAX_VALUE),
        name: text,
      }
    }
    case 'quantile': {
      const column = argumentOf('groupby', call, 2, manifest, NUMBERS)
      return { kind: 'quantile', column, count: wholeOf(call, 1, 1, MAX_QUANTILES), name: text }
    }
    case 'tile':
      requirePlaces(call, 1, manifest)
      return { kind: 'tile', zoom: wholeOf(call, 0, 0, MAX_ZOOM), name: text }
    case 'h3':
      requirePlaces(call, 1, manifest)
      return { kind: 'h3', resolution: wholeOf(call, 0, 0, MAX_RESOLUTION), name: text }
    case 'within':
      requirePlaces(call, args.length === 2 ? 2 : 1, manifest)
      return { kind: 'within', table: args[0]!, label: args[1] ?? null, name: `within(${args[0]})` }
    default:
      throw invalidInput(
        'groupby',
        `has "${name.slice(0, 80)}", which is not one of ${PERIODS.join(', ')}, interval, quantile, tile, h3, within`,
      )
  }
}

function readMeasure(call: Call, manifest: Manifest): Named<Measure> {
  const { args, text } = call
  const name = MEASURES.find((each) => each === call.name)
  const column = (count: number, types: readonly Column['type'][]) =>
    argumentOf('measures', call, count, manifest, types)
  switch (name) {
    case 'count':
      requireArguments('measures', call, 0)
      return { kind: 'count', name }
    case 'area':
    case 'length':
      requireArguments('measures', call, 0)
      if (manifest.geometryType === null)
        throw invalidInput('measures', `has ${name}, but the collection has no geometries`)
      return { kind: name, name }
    case 'distinct':
    case 'min':
    case 'max':
      return { kind: name, column: column(1, ORDERED), name: text }
    case 'sum':
    case 'mean':
    case 'stddev':
      return { kind: name, column: column(1, NUMBERS), name: text }
    case 'median':
      return { kind: 'percentile', column: column(1, MEASURED), percent: 50, name: text }
    case 'percentile': {
      const of = column(2, MEASURED)
      return { kind: 'percentile', column: of, percent: numberOf(call, 1, 0, 100, 'measures'), name: text }
    }
    case 'first':
    case 'last': {
      const of = column(args?.length === 2 ? 2 : 1, ORDERED)
      return { kind: name, column: of, time: timeOf(call, manifest), name: text }
    }
    case undefined:
      throw invalidInput(
        'measures',
        `has "${call.name.slice(0, 80)}", which is not one of ${MEASURES.join(', ')}`,
      )
  }
}

const NUMBERS: readonly Column['type'][] = ['integer', 'number']
const MEASURED: readonly Column['type'][] = [...NUMBERS, 'date', 'timestamp']
const ORDERED: readonly Column['type'][] = [...MEASURED, 'boolean', 'text']

function requireArguments(parameter: string, { name, args }: Call, count: number): void {
  if ((args ?? []).length === count) return
  throw invalidInput(parameter, `has ${name} with ${(args ?? []).length} arguments, and it takes ${count}`)
}

function requirePlaces(call: Call, count: number, { geometryType }: Manifest): void {
  requireArguments('groupby', call, count)
  if (geometryType === null)
    throw invalidInput('groupby', `has ${call.name}, but the collection has no geometries`)
}

/** The column that is the first of `count` arguments. */
function argumentOf(
  parameter: string,
  call: Call,
  count: number,
  manifest: Manifest,
  types: readonly Column['type'][],
): string {
  requireArguments(parameter, call, count)
  const { name, type } = columnOf(parameter, call.args![0]!, manifest)
  if (types.includes(type)) return name
  throw invalidInput(
    parameter,
    `has ${call.name} of "${name}", which is of type ${type} and not ${types.join(' or ')}`,
  )
}

function columnOf(parameter: string, name: string, manifest: Manifest): Column {
  const column = queryColumn(manifest, name)
  if (column === undefined)
    throw invalidInput(parameter, `names "${name.slice(0, 80)}", which is not a property`)
  if (column.type === 'json') throw invalidInput(parameter, `names "${name}", which holds nested values`)
  return column
}

function timeOf({ name, args }: Call, manifest: Manifest): string {
  const time = args![1] ?? manifest.timeColumn
  if (time === null)
    throw invalidInput('measures', `has ${name} without a time column, such as ${name}(x,time)`)
  const column = columnOf('measures', time, manifest)
  if (column.type === 'date' || column.type === 'timestamp') return column.name
  throw invalidInput('measures', `has ${name} by "${column.name}", which is not a date or timestamp`)
}

function numberOf({ name, args }: Call, at: number, min: number, max: number, parameter = 'groupby'): number {
  const text = args![at]!
  const number = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN
  if (number >= min && number <= max) return number
  const range = max === Number.MAX_VALUE ? 'above 0' : `from ${min} to ${max}`
  throw invalidInput(parameter, `has ${name} with "${text.slice(0, 80)}", which must be a number ${range}`)
}

function wholeOf(call: Call, at: number, min: number, max: number): number {
  const number = numberOf(call, at, min, max)
  if (Number.isInteger(number)) return number
  throw invalidInput(
    'groupby',
    `has ${call.name} with "${call.args![at]!.slice(0, 80)}", which must be a whole number`,
  )
}
