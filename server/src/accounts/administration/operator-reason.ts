import { Type } from 'typebox'
import { MAX_REASON, REASON_PATTERN } from './reason-rule.ts'

/** One line of text in a body: why an administrator does something. */
export const operatorReason = Type.String({
  minLength: 1,
  maxLength: MAX_REASON,
  pattern: REASON_PATTERN,
  description: 'Why, for the operators.',
})
