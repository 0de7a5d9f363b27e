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

export function likeMatcher(pattern: string): (text: string) => boolean {
  const pieces = piecesOf(pattern)
  return pieces === null ? matcherByCharacter(pattern) : (text) => matchesPieces(text, pieces)
}

/**
 * The texts between the `%` of a pattern; null if it has `_`, which stands for one character of one or two code
 * units, or half a surrogate pair, which would match half a character.
 */
function piecesOf(pattern: string): string[] | null {
  const pieces = ['']
  for (const step of stepsOf(pattern)) {
    if (typeof step === 'string') pieces[pieces.length - 1] += step
    else if (step.any === 'many') pieces.push('')
    else return null
  }
  return pieces.every((piece) => piece.isWellFormed()) ? pieces : null
}

/** Finds each piece at its first place after the one before: no later place could allow more. */
function matchesPieces(text: string, pieces: readonly string[]): boolean {
  const [first = ''] = pieces
  if (pieces.length === 1) return text === first
  const last = pieces[pieces.length - 1]!
  const end = text.length - last.length
  if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  for (let i = 1; i < pieces.length - 1; i++) {
    const pieceStart = text.indexOf(pieces[i]!, at)
    if (pieceStart === -1) return false
    at = pieceStart + pieces[i]!.length
  }
  return at <= end
}

/**
 * Matches without backtracking beyond the last `%`; the worst case is the text's length times the pattern's.
 */
function matcherByCharacter(pattern: string): (text: string) => boolean {
  const steps = stepsOf(pattern)
  return (text) => {
    const characters = [...text]
    let at = 0
    let step = 0
    let retryAt = -1
    let retryStep = -1
    while (at < characters.length) {
      const patternStep = steps[step]
      if (patternStep !== undefined && typeof patternStep !== 'string' && patternStep.any === 'many') {
        retryStep = step++
        retryAt = at
      } else if (
        patternStep !== undefined &&
        (typeof patternStep !== 'string' || patternStep === characters[at])
      ) {
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
