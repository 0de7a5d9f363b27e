import { BoundedCache } from '@wayleave/geodata/base'
import type { Column } from '@wayleave/geodata/geometry'
import { idQueryable, type Manifest, queryColumn, queryColumns } from '@wayleave/geodata/snapshot'
import { DEFAULT_LIMITS, type Expression } from '../cql2/ast.ts'
import { boundCost } from '../cql2/check/bound-cost.ts'
import { check } from '../cql2/check/check.ts'
import { columnsOf } from '../cql2/columns-of.ts'
import type { Condition } from '../cql2/condition.ts'
import { Cql2Error, FilterCostError } from '../cql2/cql2-error.ts'
import { prepareLiteral } from '../cql2/evaluate/prepare-literal.ts'
import { mapGeometries } from '../cql2/map-geometries.ts'
import { dateValue, isDate, numberValue, timestampValue } from '../cql2/parse/literals.ts'
import { fromJson, parseJson } from '../cql2/parse/parse-json.ts'
import { parseText } from '../cql2/parse/parse-text.ts'
import { invalidParameter, QueryError } from '../query-error.ts'
import type { Conditions, FilterCrs, FilterText } from './conditions.ts'
import { readDatetime } from './datetime.ts'
import { type FilterPlan, planCondition, planLazily } from './plan-filter.ts'

/** The memory of all cached conditions, in bytes. */
const MAX_CACHED_BYTES = 16 << 20
/**
 * An estimate of what a checked condition takes: some objects for each character, and what every one has, the
 * compiled filter included that is kept with it.
 */
const BYTES_PER_CHARACTER = 64
const MIN_BYTES = 3000
/** Longer conditions are parsed each time. */
const MAX_CACHED_LENGTH = 1000

/**
 * Checked conditions on columns alone. Not whole plans: the functions of a plan remember the last feature that they
 * read, which may be large.
 */
const cachedConditions = new BoundedCache<string, Condition>(
  MAX_CACHED_BYTES,
  (_condition, key) => key.length * BYTES_PER_CHARACTER + MIN_BYTES,
)
/** A number for each version, because a checked condition depends on the columns. */
const versionNumbers = new WeakMap<Manifest, number>()
let lastVersionNumber = 0

/**
 * Combines all conditions of a request into one plan; null if no condition remains. Parsing and checking a short
 * filter takes about as long as finding its first ten features, so checked conditions are cached.
 */
export function planConditions(conditions: Conditions, version: { manifest: Manifest }): FilterPlan | null {
  const steps = planInSteps(conditions, version)
  let step = steps.next()
  while (!step.done) step = steps.next()
  return step.value
}

/** As `planConditions`. Yields between steps, each of which takes milliseconds if the filter is long. */
export function* planInSteps(
  conditions: Conditions,
  { manifest }: { manifest: Manifest },
): Generator<void, FilterPlan | null> {
  const key = keyOf(conditions, manifest)
  const cached = key === null ? undefined : cachedConditions.get(key)
  if (cached) return planLazily(cached, optionsOf(manifest))
  const plan = yield* makePlan(conditions, manifest)
  if (plan && key !== null && !columnsOf(plan.condition).geometry) cachedConditions.set(key, plan.condition)
  return plan
}

function optionsOf(manifest: Manifest) {
  return { isSpatial: manifest.geometryType !== null, alias: idQueryable(manifest) }
}

function numberOf(manifest: Manifest): number {
  let number = versionNumbers.get(manifest)
  if (number === undefined) {
    number = ++lastVersionNumber
    versionNumbers.set(manifest, number)
  }
  return number
}

/** Null for conditions that are not cached: long ones, and filters with other limits than those of a URL. */
function keyOf({ filter, datetime, properties }: Conditions, manifest: Manifest): string | null {
  if (filter && filter.limits !== DEFAULT_LIMITS) return null
  let key = filter ? `${filter.language} ${filter.crs.uri} ${filter.text.length} ${filter.text}` : ''
  if (datetime !== null) key += `\ndatetime ${datetime.length} ${datetime}`
  for (const { column, value } of properties) key += `\n${column.length} ${column} ${value.length} ${value}`
  return key.length > MAX_CACHED_LENGTH ? null : `${numberOf(manifest)} ${key}`
}

function* makePlan(conditions: Conditions, manifest: Manifest): Generator<void, FilterPlan | null> {
  const parts: Expression[] = []
  if (conditions.datetime !== null) {
    const expression = readDatetime(conditions.datetime, manifest.timeColumn)
    // If there is no time column, every feature matches any `datetime`.
    if (expression) parts.push(expression)
  }
  for (const { column: name, value } of conditions.properties) {
    const column = queryColumn(manifest, name)!
    parts.push({ kind: 'call', op: '=', args: [property(name), literal(column, value)], at: `in ${name}` })
  }
  try {
    const { filter } = conditions
    if (filter) {
      const expression = parse(filter)
      yield
      parts.push(inLongitudeAndLatitude(expression, filter.crs))
      yield
    }
    const whole: Expression | undefined =
      parts.length > 1 ? { kind: 'call', op: 'and', args: parts, at: 'in the query' } : parts[0]
    if (!whole) return null
    const options = optionsOf(manifest)
    const columns = queryColumns(manifest)
    const condition = check(whole, columns, options.isSpatial, options.alias)
    boundCost(condition)
    const { geometry, shapes } = columnsOf(condition)
    if (!geometry) return planLazily(condition, options)
    yield
    for (const shape of shapes) {
      prepareLiteral(shape)
      yield
    }
    const plan = planCondition(condition, { ...options, usesTree: false })
    // Searching one box around all matches is faster than finding the positions for each condition.
    const isBounded = plan.exact === null || plan.bbox !== null || plan.decide !== null
    return isBounded ? plan : planCondition(condition, options)
  } catch (error) {
    if (error instanceof Cql2Error) {
      const limit = error instanceof FilterCostError ? 'filter-cost' : undefined
      throw new QueryError('invalid-filter', error.message, { limit })
    }
    throw error
  }
}

function parse({ text, json, language, limits }: FilterText): Expression {
  if (language === 'cql2-text') return parseText(text, limits)
  return json === undefined ? parseJson(text, limits) : fromJson(json, limits)
}

function inLongitudeAndLatitude(expression: Expression, { toWgs84, northingFirst }: FilterCrs): Expression {
  if (toWgs84 === null && !northingFirst) return expression
  return mapGeometries(expression, (position) => {
    const [first, second, ...heights] = position as [number, number, ...number[]]
    const place = northingFirst ? [second, first, ...heights] : position
    const moved = toWgs84 === null ? place : toWgs84(place)
    if (!Number.isFinite(moved[0]) || !Number.isFinite(moved[1])) {
      throw new Cql2Error(`The position ${first} ${second} has no place in this CRS.`)
    }
    return moved
  })
}

function property(name: string): Expression {
  return { kind: 'property', name, at: `in ${name}` }
}

/** Digits match in one way only: with `\d+\.?\d*`, a long text takes a time that grows with the square of its length. */
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i

const EXPECTED: { [type in Column['type']]?: string } = {
  date: 'must be a date such as 2025-12-31',
  timestamp: 'must be a date such as 2025-12-31 or a time such as 2025-12-31T23:59:59Z',
}

/** The value of a parameter that is named like a column, as a literal of the column's type. */
function literal({ name, type }: Column, text: string): Expression {
  const at = `in ${name}`
  const literalText = text.trim()
  try {
    switch (type) {
      case 'text':
        return { kind: 'literal', value: text, at }
      case 'integer':
      case 'number':
        if (!NUMBER.test(literalText)) throw invalidParameter(name, 'must be a number')
        return { kind: 'literal', value: numberValue(literalText.replace(/^\+/, ''), at), at }
      case 'boolean':
        // GDAL sends 1 and 0.
        if (!/^(true|false|1|0)$/.test(literalText)) throw invalidParameter(name, 'must be true or false')
        return { kind: 'literal', value: literalText === 'true' || literalText === '1', at }
      case 'date':
      case 'timestamp':
        return isDate(literalText)
          ? { kind: 'date', value: dateValue(literalText, at), at }
          : { kind: 'timestamp', value: timestampValue(literalText, at), at }
      case 'json':
        throw invalidParameter(name, 'holds nested values, by which features cannot be filtered')
    }
  } catch (error) {
    if (error instanceof Cql2Error) throw invalidParameter(name, EXPECTED[type] ?? error.message)
    throw error
  }
}
