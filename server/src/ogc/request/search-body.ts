import { hasMoreMembers, hasMoreValues, isNestedDeeper } from '@wayleave/geodata/base'
import { parseJson } from '@wayleave/geodata/features'
import type { Value } from '@wayleave/geodata/geometry'
import { invalidInput } from '../../base/problem.ts'
import { MAX_PAIRS, type QueryPair } from './query-string.ts'

/** Members that may be arrays, whose elements are separated by commas in a URL. */
const LISTS = ['bbox', 'sortby', 'properties']

/** Parsing takes a time that grows with the square of the digits, and no column has integers of more than 38. */
const LONG_NUMBER = /[\s:,[-]\d{400}/

/** A filter has at most 4,096 parts and 16,384 positions, of which each has a few values. */
const MAX_VALUES = 70_000
const LONG_INTEGER = /(?<![.\d])\d{16}/
const MAX_VALUES_BESIDE_LONG_INTEGERS = 10_000
/** Beyond what a filter may have; its own limit has a better message. */
const MAX_DEPTH = 1000

/**
 * The parameters of a search, from its JSON body: the same names and values as in a URL. `filter` may also be
 * CQL2 JSON itself, and lists may be arrays. Integers of any size are exact.
 */
export function readSearchBody(text: string): QueryPair[] {
  const members = Object.entries(parsedBody(text)).filter(([, value]) => value !== null)
  return members.map(([name, value]) => {
    const parameter = parameterText(name, value)
    if (!name.isWellFormed() || !parameter.isWellFormed())
      throw invalidInput('body', 'must not contain half of a surrogate pair, which is not a character')
    return { name, value: parameter, raw: `${encodeURIComponent(name)}=${encodeURIComponent(parameter)}` }
  })
}

function parsedBody(text: string): object {
  if (LONG_NUMBER.test(text)) throw invalidInput('body', 'must not contain numbers of 400 digits or more')
  if (isNestedDeeper(text, MAX_DEPTH)) throw invalidInput('body', 'is nested too deeply')
  if (hasMoreMembers(text, MAX_PAIRS)) throw invalidInput('body', `has more than ${MAX_PAIRS} members`)
  // With such integers, a function is called for each value.
  if (LONG_INTEGER.test(text) && hasMoreValues(text, MAX_VALUES_BESIDE_LONG_INTEGERS))
    throw invalidInput(
      'body',
      `with integers of 16 digits must have at most ${MAX_VALUES_BESIDE_LONG_INTEGERS} values`,
    )
  if (hasMoreValues(text, MAX_VALUES)) throw invalidInput('body', `must have at most ${MAX_VALUES} values`)
  let body: unknown
  try {
    body = parseJson(text)
  } catch {
    throw invalidInput('body', 'must be JSON')
  }
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body
  throw invalidInput('body', 'must be a JSON object')
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
