/** Splits a comma-separated line of keywords and removes duplicates. */
export function splitKeywords(text: string): string[] {
  return [
    ...new Set(
      text
        .split(',')
        .map((word) => word.trim())
        .filter((word) => word !== ''),
    ),
  ]
}
