/** The bounds of `skipLines` and `headerLines`. */
export const SKIPPED_LINES = { minimum: 1, maximum: 100 }
export const HEADER_LINES = { minimum: 1, maximum: 10 }
