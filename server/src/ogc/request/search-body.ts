import { jsonShape } from '@wayleave/geodata/base'
import { parseJson } from '@wayleave/geodata/features'
import type { Value } from '@wayleave/geodata/geometry'
import { invalidInput } from '../../base/problem.ts'
import { MAX_PARAMETERS } from '../../http/parameter-count.ts'
import type { QueryPair } from './query-string.ts'

/** Members that may be arrays, whose elements are separated by commas in a URL. */
const LISTS = ['bbox', 'sortby', 'properties', 'groupby', 'measures']

/** Parsing takes a time that grows with the square of the digits, and no column has integers of more than 38. */
const MAX_DIGITS = 399

/** A filter has at most 4,096 parts and 16,384 positions, of which each has a few values. */
const MAX_VALUES = 70_000
/** Integers of so many digits may be inexact as numbers; with one of them, a function is called for each value. */
const LONG_INTEGER = 16
const MAX_VALUES_BESIDE_LONG_INTEGERS = 10_000
/** Beyond what a filter may have; its own limit has a better message. */
const MAX_DEPTH = 1000

/**
 * The parameters of a search, from its JSON body: the same names and values as in a URL. `filter` may also be
 * CQL2 JSON itself, and lists may be arrays. Integers of any size are exact. Yields between steps, each of which
 * takes milliseconds if the body is long.
 */
export function* readSearchBody(text: string): Generator<void, QueryPair[]> {
  const body = yield* parsedBody(text)
  const members = Object.entries(body).filter(([, value]) => value !== null)
  yield
  return members.map(([name, value]) => {
    const parameter = parameterText(name, value)
    if (!name.isWellFormed() || !parameter.isWellFormed())
      throw invalidInput('body', 'must not contain half of a surrogate pair, which is not a character')
    // Links do not contain the query of a body.
    return { name, value: parameter, raw: '', ...(isObject(value) && { json: value }) }
  })
}

function* parsedBody(text: string): Generator<void, { [name: string]: Value }> {
  const max = { depth: MAX_DEPTH, commas: MAX_VALUES, outerCommas: MAX_PARAMETERS - 1 }
  const { depth, commas, outerCommas, integerDigits } = jsonShape(text, max)
  const isLong = integerDigits >= LONG_INTEGER
  if (integerDigits > MAX_DIGITS)
    throw invalidInput('body', `must not contain numbers of ${MAX_DIGITS + 1} digits or more`)
  if (depth > MAX_DEPTH) throw invalidInput('body', 'is nested too deeply')
  if (outerCommas >= MAX_PARAMETERS) throw invalidInput('body', `has more than ${MAX_PARAMETERS} members`)
  if (isLong && commas > MAX_VALUES_BESIDE_LONG_INTEGERS)
    throw invalidInput(
      'body',
      `with integers of ${LONG_INTEGER} digits must have at most ${MAX_VALUES_BESIDE_LONG_INTEGERS} values`,
    )
  if (commas > MAX_VALUES) throw invalidInput('body', `must have at most ${MAX_VALUES} values`)
  yield
  let body: Value
  try {
    body = isLong ? parseJson(text) : JSON.parse(text)
  } catch {
    throw invalidInput('body', 'must be JSON')
  }
  if (isObject(body)) return body
  throw invalidInput('body', 'must be a JSON object')
}

function isObject(value: Value): value is { [name: string]: Value } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parameterText(name: string, value: Value): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean')
    return String(value)
  if (name === 'filter' || (name === 'ids' && Array.isArray(value))) return jsonText(name, value)
  const isList = LISTS.includes(name) && Array.isArray(value)
  if (isList && value.every((item) => typeof item === 'string' || typeof item === 'number'))
    return listText(value)
  throw invalidInput(name.slice(0, 80), 'has a value of a type that this parameter does not accept')
}

/** A name that contains a comma is written in a JSON array, as in a URL. */
function listText(items: readonly Value[]): string {
  const texts = items.map(String)
  return texts.some((text) => text.includes(',')) ? JSON.stringify(texts) : texts.join(',')
}

/** JSON text in which a bigint is a number. A replacer takes ten times as long, so it is used only for those. */
function jsonText(name: string, value: Value): string {
  try {
    return JSON.stringify(value)
  } catch {
    // A bigint, or nested too deeply.
  }
  try {
    return JSON.stringify(value, (_, part: unknown) =>
      typeof part === 'bigint' ? (JSON as RawJson).rawJSON(String(part)) : part,
    )
  } catch {
    throw invalidInput(name, 'is nested too deeply')
  }
}

/** `JSON.rawJSON` is newer than the type definitions. */
type RawJson = typeof JSON & { rawJSON(text: string): unknown }
