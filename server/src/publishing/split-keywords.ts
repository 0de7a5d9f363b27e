/** Keywords as people write them in one line: separated by commas, each once. */
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
