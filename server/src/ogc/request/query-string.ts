import type { Value } from '@wayleave/geodata/geometry'
import { invalidInput } from '../../base/problem.ts'
import { tooManyParameters } from '../../http/parameter-count.ts'

export interface QueryPair {
  name: string
  value: string
  /** As it is in the URL, for links; empty if it is not from a URL. */
  raw: string
  /** The value before it was made a text, if it is an object in the body of a search. */
  json?: Value
}

const NONE: QueryPair[] = []

/** A key in the URL was evaluated before. It is only for that one request, so links must not repeat it. */
const KEY = 'api_key'

/**
 * The query parameters of a URL, in their order, without a key. Hand-written because every page of features runs through it.
 * A parameter that is repeated or cannot be decoded is a 400; `f=` is an empty value.
 */
export function readQuery(url: string): QueryPair[] {
  const mark = url.indexOf('?')
  if (mark === -1 || mark === url.length - 1) return NONE
  const refusal = tooManyParameters(url)
  if (refusal) throw refusal
  const pairs: QueryPair[] = []
  for (let at = mark + 1; at < url.length; ) {
    let end = url.indexOf('&', at)
    if (end === -1) end = url.length
    if (end > at) {
      const raw = url.slice(at, end)
      const equals = raw.indexOf('=')
      const name = decoded(equals === -1 ? raw : raw.slice(0, equals))
      for (const pair of pairs) {
        if (pair.name === name) throw invalidInput(name, 'is given more than once')
      }
      if (name !== KEY) pairs.push({ name, value: equals === -1 ? '' : decoded(raw.slice(equals + 1)), raw })
    }
    at = end + 1
  }
  return pairs
}

function decoded(text: string): string {
  const hasPlus = text.includes('+')
  if (!hasPlus && !text.includes('%')) return text
  try {
    return decodeURIComponent(hasPlus ? text.replaceAll('+', ' ') : text)
  } catch {
    throw invalidInput('query', 'has a percent sign that is not followed by two digits of a UTF-8 character')
  }
}

/** Throws if there is a parameter that is not in `known`. */
export function refuseUnknown(pairs: readonly QueryPair[], names: readonly string[]): void {
  for (const { name } of pairs) {
    if (!names.includes(name)) throw unknownParameter(name)
  }
}

export function unknownParameter(name: string) {
  return invalidInput(name.slice(0, 80), 'is not a known parameter')
}

export function parameterOf(pairs: readonly QueryPair[], name: string): string | undefined {
  for (const pair of pairs) if (pair.name === name) return pair.value
  return undefined
}
