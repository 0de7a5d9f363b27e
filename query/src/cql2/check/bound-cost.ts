import { assertNever } from '@wayleave/geodata/base'
import type { Condition, Scalar } from '../condition.ts'
import { FilterCostError } from '../cql2-error.ts'
import { foldedName } from '../folded-name.ts'

/**
 * Limits on what a filter may cost for each feature, besides the limits of its text. Folding takes the longest,
 * and needs memory; each folded column is counted once, however many conditions read it.
 */
const COST_LIMITS = { spatial: 256, folds: 16, patterns: 256, patternCharacters: 16_384 }

/** Throws a FilterCostError, which names the limit, if evaluating the filter would cost too much. */
export function boundCost(condition: Condition): void {
  const folded = new Set<string>()
  let patterns = 0
  let patternCharacters = 0
  let spatial = 0
  const visitScalar = (scalar: Scalar): void => {
    switch (scalar.kind) {
      case 'fold':
        folded.add(foldedName(scalar))
        visitScalar(scalar.of)
        break
      case 'arithmetic':
        visitScalar(scalar.left)
        visitScalar(scalar.right)
        break
      case 'power':
        visitScalar(scalar.base)
        break
      case 'toNumber':
      case 'toDate':
        visitScalar(scalar.of)
        break
      case 'condition':
        visit(scalar.of)
        break
      case 'literal':
      case 'column':
        break
      default:
        assertNever(scalar)
    }
  }
  const visit = (part: Condition): void => {
    switch (part.kind) {
      case 'and':
      case 'or':
        part.args.forEach(visit)
        break
      case 'not':
        visit(part.arg)
        break
      case 'compare':
        visitScalar(part.left)
        visitScalar(part.right)
        break
      case 'in':
        visitScalar(part.left)
        part.items.forEach(visitScalar)
        break
      case 'like':
        patterns++
        patternCharacters += part.pattern.length
        visitScalar(part.text)
        break
      case 'truth':
        visitScalar(part.of)
        break
      case 'isNull':
        if (part.of.kind === 'geometry' || part.of.kind === 'json') break
        if ('type' in part.of) visitScalar(part.of)
        else visit(part.of)
        break
      case 'spatial':
        spatial++
        break
      case 'constant':
      case 'array':
        break
      default:
        assertNever(part)
    }
  }
  visit(condition)
  if (patterns > COST_LIMITS.patterns) {
    throw new FilterCostError(`The filter has more than ${COST_LIMITS.patterns} LIKE conditions.`)
  }
  // Each pattern is compiled before the first feature: 240 of 900 characters take 30 ms.
  if (patternCharacters > COST_LIMITS.patternCharacters) {
    throw new FilterCostError(
      `The patterns of LIKE have more than ${COST_LIMITS.patternCharacters} characters in all.`,
    )
  }
  if (spatial > COST_LIMITS.spatial) {
    throw new FilterCostError(`The filter has more than ${COST_LIMITS.spatial} spatial conditions.`)
  }
  if (folded.size > COST_LIMITS.folds) {
    throw new FilterCostError(
      `The filter folds texts by CASEI and ACCENTI in more than ${COST_LIMITS.folds} different ways or columns.`,
    )
  }
}
