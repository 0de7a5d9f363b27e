/** Of equally welcome encodings the smaller and quicker to unpack. */
const PREFERRED = ['zstd', 'gzip', 'identity'] as const

/** The encoding that the request likes best (RFC 9110, section 12.5.3). */
export function preferredEncoding(header: string | undefined): 'identity' | 'gzip' | 'zstd' {
  if (header === undefined || header.trim() === '') return 'identity'
  const weights = new Map<string, number>()
  for (const item of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim())
    const q = parameters.find((parameter) => parameter.startsWith('q='))
    weights.set(name === 'x-gzip' ? 'gzip' : name, q === undefined ? 1 : Number(q.slice(2)) || 0)
  }
  const weightOf = (name: string) =>
    weights.get(name) ?? (name === 'identity' ? 0.001 : (weights.get('*') ?? 0))
  // Where nothing is welcome, the bytes as they are: at least nobody is sent a coding they did not name.
  return PREFERRED.reduce<(typeof PREFERRED)[number]>(
    (best, name) =>
      weightOf(name) > weightOf(best) || (best !== 'identity' && weightOf(best) === 0) ? name : best,
    PREFERRED[0],
  )
}
