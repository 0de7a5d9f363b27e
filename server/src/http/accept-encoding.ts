type Coding = 'gzip' | 'zstd'

/**
 * Content negotiation (RFC 9110, section 12.5.3): of the available codings, given in our order of preference,
 * returns the one that the client prefers, or 'identity' if the client prefers that.
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
  // If no coding is acceptable, fall back to identity: never send a coding that the client did not accept.
  const welcome = codings.filter((name) => weightOf(name) > 0)
  return [...welcome, 'identity' as const].reduce((best, name) =>
    weightOf(name) > weightOf(best) ? name : best,
  )
}

function weightIn(parameters: string[]): number {
  const q = parameters.find((parameter) => /^q\s*=/.test(parameter))
  return q === undefined ? 1 : Number(q.slice(q.indexOf('=') + 1)) || 0
}
