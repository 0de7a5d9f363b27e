import { Cql2Error } from '../cql2-error.ts'

/**
 * Normalizes the escapes of a LIKE pattern: a backslash remains only before `%`, `_` and itself, so that
 * DuckDB and the interpreter cannot differ on the others.
 */
export function checkPattern(pattern: string, at: string): string {
  let checked = ''
  const characters = [...pattern]
  for (let i = 0; i < characters.length; i++) {
    if (characters[i] !== '\\') {
      checked += characters[i]
      continue
    }
    const escaped = characters[++i]
    if (escaped === undefined) {
      throw new Cql2Error(`The pattern of LIKE ${at} ends with a backslash, which escapes nothing.`)
    }
    checked += '%_\\'.includes(escaped) ? `\\${escaped}` : escaped
  }
  return checked
}

type Step = string | { any: 'one' | 'many' }

/**
 * Matches without backtracking beyond the last `%`; the worst case is the text's length times the pattern's.
 */
export function likeMatcher(pattern: string): (text: string) => boolean {
  const steps = stepsOf(pattern)
  return (text) => {
    const characters = [...text]
    let at = 0
    let step = 0
    let retryAt = -1
    let retryStep = -1
    while (at < characters.length) {
      const wanted = steps[step]
      if (wanted !== undefined && typeof wanted !== 'string' && wanted.any === 'many') {
        retryStep = step++
        retryAt = at
      } else if (wanted !== undefined && (typeof wanted !== 'string' || wanted === characters[at])) {
        step++
        at++
      } else if (retryStep >= 0) {
        step = retryStep + 1
        at = ++retryAt
      } else return false
    }
    return steps.slice(step).every((rest) => typeof rest !== 'string' && rest.any === 'many')
  }
}

function stepsOf(pattern: string): Step[] {
  const steps: Step[] = []
  const characters = [...pattern]
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i]!
    if (character === '\\') steps.push(characters[++i]!)
    else if (character === '%') steps.push({ any: 'many' })
    else if (character === '_') steps.push({ any: 'one' })
    else steps.push(character)
  }
  return steps
}
