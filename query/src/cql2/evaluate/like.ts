import { Cql2Error, FilterCostError } from '../cql2-error.ts'

/** Max length of a pattern: matching takes the text's length times the pattern's. */
const MAX_PATTERN = 1024

/**
 * Normalizes the escapes of a LIKE pattern: a backslash remains only before `%`, `_` and itself, so that
 * DuckDB and the interpreter cannot differ on the others.
 */
export function checkPattern(pattern: string, at: string): string {
  if (pattern.length > MAX_PATTERN) {
    throw new FilterCostError(`A pattern of LIKE is longer than ${MAX_PATTERN} characters.`)
  }
  if (!pattern.includes('\\')) return pattern
  return pattern.replaceAll(/\\(.?)/gsu, (_, escaped: string) => {
    if (escaped === '') {
      throw new Cql2Error(`The pattern of LIKE ${at} ends with a backslash, which escapes nothing.`)
    }
    return '%_\\'.includes(escaped) ? `\\${escaped}` : escaped
  })
}

type Step = string | typeof ONE | typeof MANY

const ONE = Symbol('_')
const MANY = Symbol('%')

/** Tests texts. Compiled at the first of them, because most plans find their features by other means. */
export function likeMatcher(pattern: string): (text: string) => boolean {
  let matches: ((text: string) => boolean) | null = null
  return (text) => {
    matches ??= compilePattern(pattern)
    return matches(text)
  }
}

function compilePattern(pattern: string): (text: string) => boolean {
  const steps = stepsOf(pattern)
  const pieces = piecesOf(steps)
  return pieces === null ? matcherByCharacter(steps) : (text) => matchesPieces(text, pieces)
}

/**
 * The texts between the `%` of a pattern; null if it has `_`, which stands for one character of one or two code
 * units, or half a surrogate pair, which would match half a character.
 */
function piecesOf(steps: readonly Step[]): string[] | null {
  if (steps.includes(ONE)) return null
  const pieces = ['']
  for (const step of steps) {
    if (typeof step === 'string') pieces[pieces.length - 1] += step
    else pieces.push('')
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
function matcherByCharacter(steps: readonly Step[]): (text: string) => boolean {
  return (text) => {
    const characters = [...text]
    let at = 0
    let step = 0
    let retryAt = -1
    let retryStep = -1
    while (at < characters.length) {
      const patternStep = steps[step]
      if (patternStep === MANY) {
        retryStep = step++
        retryAt = at
      } else if (patternStep === ONE || patternStep === characters[at]) {
        step++
        at++
      } else if (retryStep >= 0) {
        step = retryStep + 1
        at = ++retryAt
      } else return false
    }
    return steps.slice(step).every((rest) => rest === MANY)
  }
}

function stepsOf(pattern: string): Step[] {
  const steps: Step[] = []
  const characters = [...pattern]
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i]!
    if (character === '\\') steps.push(characters[++i]!)
    else if (character === '%') steps.push(MANY)
    else if (character === '_') steps.push(ONE)
    else steps.push(character)
  }
  return steps
}
