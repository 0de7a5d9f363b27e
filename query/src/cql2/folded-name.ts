import type { Scalar } from './condition.ts'

/**
 * The name of a folded column: the folds, outermost first, and the column. It contains a line break, and no
 * column of a dataset has a control character in its name. Only columns are folded: a folded literal is a
 * literal.
 */
export function foldedName(scalar: Scalar): string {
  if (scalar.kind === 'fold') return `${scalar.fold}\n${foldedName(scalar.of)}`
  return scalar.kind === 'column' ? scalar.name : ''
}
