/** The rule for reasons that operators give: one line of text. It imports nothing, because the command line uses it. */
export const MAX_REASON = 500
export const REASON_PATTERN = '^[^\\x00-\\x1f\\x7f]*$'

export function isReason(text: string): boolean {
  return text !== '' && [...text].length <= MAX_REASON && new RegExp(REASON_PATTERN, 'u').test(text)
}
