import { invalidInput, type Problem } from '../base/problem.ts'

/** More than any dataset's columns that a request filters by; all names are compared with each other. */
export const MAX_PARAMETERS = 500

/** The shortest URL with more parameters is longer. */
const SHORT_URL = 2 * MAX_PARAMETERS

/** Why a URL is refused before its query is parsed, which takes milliseconds; null if it has few parameters. */
export function tooManyParameters(url: string): Problem | null {
  return hasFewParameters(url) ? null : invalidInput('query', `has more than ${MAX_PARAMETERS} parameters`)
}

/** The URL for the router, which parses its query before any hook runs: without a query that will be refused. */
export function routedUrl(url: string): string {
  return hasFewParameters(url) ? url : url.slice(0, url.indexOf('?'))
}

/** Like the parsers of queries, does not count parameters without a character. */
function hasFewParameters(url: string): boolean {
  if (url.length < SHORT_URL) return true
  const query = url.indexOf('?')
  if (query === -1) return true
  let count = 0
  for (let at = query; at !== -1; at = url.indexOf('&', at + 1)) {
    const isEmpty = at + 1 === url.length || url[at + 1] === '&'
    if (!isEmpty && ++count > MAX_PARAMETERS) return false
  }
  return true
}
