import Negotiator from 'negotiator'

type Coding = 'gzip' | 'zstd'

/** The package's types lack the option `preferred`: the order of codings that the client accepts equally. */
interface EncodingNegotiator {
  encodings(available: string[], options?: { preferred: string[] }): string[]
}

/**
 * Content negotiation (RFC 9110, section 12.5.3): of the available codings, given in our order of preference,
 * returns the one that the client prefers, or 'identity' if the client prefers that. If no coding is acceptable,
 * it is identity too: never send a coding that the client did not accept.
 */
export function preferredEncoding<Available extends Coding>(
  header: string | undefined,
  codings: readonly Available[],
): 'identity' | Available {
  if (header === undefined || header.trim() === '') return 'identity'
  // RFC 9110, section 8.4.1.3: x-gzip is another name of gzip. Spaces around `=` are tolerated.
  const normalized = header.toLowerCase().replaceAll('x-gzip', 'gzip').replaceAll(/\s+/g, '')
  const available: (Available | 'identity')[] = [...codings, 'identity']
  const negotiator: EncodingNegotiator = new Negotiator({ headers: { 'accept-encoding': normalized } })
  const [preferred] = negotiator.encodings(available, { preferred: available })
  return (preferred as Available | undefined) ?? 'identity'
}
