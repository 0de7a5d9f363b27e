/** The name that a misspelt one resembles most; undefined if none is similar enough. */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  const simpleName = simplified(name)
  let nearest: string | undefined
  let shortest = Math.max(1, Math.floor(simpleName.length * 0.4)) + 1
  for (const candidate of names) {
    const distance = editDistance(simpleName, simplified(candidate))
    if (distance < shortest) {
      shortest = distance
      nearest = candidate
    }
  }
  return nearest
}

/** `api_key`, `apikey` and `apiKey` are the same name, spelt in three ways. */
function simplified(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
    .slice(0, 100)
}

/** Levenshtein's distance, in which two swapped neighbours count as one edit. */
function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swap = isSwap ? beforePrevious[j - 2]! + 1 : Number.POSITIVE_INFINITY
      current[j] = Math.min(previous[j]! + 1, current[j - 1]! + 1, substitution, swap)
    }
    beforePrevious = previous
    previous = current
  }
  return previous[b.length]!
}
