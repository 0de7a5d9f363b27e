import { Type } from 'typebox'

/** One line of text in a body: why an administrator does something. */
export const operatorReason = Type.String({
  minLength: 1,
  maxLength: 500,
  pattern: '^[^\\x00-\\x1f\\x7f]*$',
  description: 'Why, for the operators.',
})
