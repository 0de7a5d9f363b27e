type Coding = 'gzip' | 'zstd'

/**
 * Of the codings that there are, the best first, the one that the request likes best (RFC 9110, section
 * 12.5.3); the bytes as they are where it likes those better.
 */
export function preferredEncoding<Given extends Coding>(
  header: string | undefined,
  codings: readonly Given[],
): 'identity' | Given {
  if (header === undefined || header.trim() === '') return 'identity'
  const weights = new Map<string, number>()
  for (const item of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim())
    weights.set(name === 'x-gzip' ? 'gzip' : name, weightIn(parameters))
  }
  const weightOf = (name: string) =>
    weights.get(name) ?? (name === 'identity' ? 0.0001 : (weights.get('*') ?? 0))
  // Where nothing is welcome, the bytes as they are: at least nobody is sent a coding they did not name.
  const welcome = codings.filter((name) => weightOf(name) > 0)
  return [...welcome, 'identity' as const].reduce((best, name) =>
    weightOf(name) > weightOf(best) ? name : best,
  )
}

function weightIn(parameters: string[]): number {
  const q = parameters.find((parameter) => /^q\s*=/.test(parameter))
  return q === undefined ? 1 : Number(q.slice(q.indexOf('=') + 1)) || 0
}
