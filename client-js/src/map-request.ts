import type { Transport } from './transport.ts'

/** A request as MapLibre's `transformRequest` returns it. */
export interface MapRequest {
  url: string
  headers: Record<string, string>
}

/** Adds the key to a request of a map. Undefined, which changes nothing, for every address but the service's API. */
export function mapRequest(
  { apiKey, baseUrl }: Transport,
  url: string,
): MapRequest | Promise<MapRequest> | undefined {
  if (apiKey === undefined || !isOfService(url, baseUrl)) return undefined
  const withKey = (key: string | null | undefined): MapRequest => ({
    url,
    headers: key ? { 'X-API-Key': key } : {},
  })
  if (typeof apiKey === 'string') return withKey(apiKey)
  const key = apiKey()
  return key instanceof Promise ? key.then(withKey) : withKey(key)
}

function isOfService(address: string, baseUrl: string): boolean {
  try {
    const { location } = globalThis as { location?: { href: string } }
    // Parsed, since a text comparison would accept https://data.example.org.evil.example and https://a@evil.example.
    const url = new URL(address, location?.href)
    const service = new URL(`${baseUrl}/v1/`)
    return url.origin === service.origin && url.pathname.startsWith(service.pathname)
  } catch {
    return false
  }
}
