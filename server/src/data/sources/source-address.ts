import { SourceError } from '@wayleave/geodata/compile'

/** What is at an address, which decides how it is read. */
export type SourceKind = 'file' | 's3' | 'postgres' | 'ogc' | 'wfs' | 'arcgis'

/** The secrets of a source. They are stored encrypted and never shown. */
export interface SourceCredentials {
  username?: string
  password?: string
  /** Headers of HTTP requests, such as `X-API-Key`. */
  headers?: Record<string, string>
}

export interface SourceAddress {
  kind: SourceKind
  /** Without credentials. */
  address: string
  credentials: SourceCredentials | null
}

const ARCGIS_LAYER = /\/(FeatureServer|MapServer)\/\d+\/?$/i
const OGC_COLLECTION = /\/collections\/[^/]+(\/items)?\/?$/

/** Whether a text is an address that can be published, and not the path of a file. */
export function isSourceAddress(text: string): boolean {
  return /^(https?|s3|postgres(ql)?):\/\//i.test(text)
}

/** Separates an address from the user name and password in it. Throws a SourceError if it is none that can be read. */
export function parseSourceAddress(text: string, headers: Record<string, string> = {}): SourceAddress {
  const url = isSourceAddress(text) ? URL.parse(text) : null
  if (!url || (url.hostname === '' && !url.protocol.startsWith('postgres')))
    throw new SourceError('A source is an address that begins with https://, http://, s3:// or postgres://.')
  const username = decoded(url.username)
  const password = decoded(url.password)
  url.username = ''
  url.password = ''
  const hasUser = username !== '' || password !== ''
  const credentials = {
    ...(hasUser && { username, password }),
    ...(Object.keys(headers).length > 0 && { headers }),
  }
  const hasCredentials = Object.keys(credentials).length > 0
  const kind = kindOf(url)
  if (Object.keys(headers).length > 0 && !/^https?:/.test(url.protocol))
    throw new SourceError('Headers belong to addresses that begin with https://.')
  return { kind, address: url.href, credentials: hasCredentials ? credentials : null }
}

function kindOf(url: URL): SourceKind {
  if (url.protocol === 's3:') return 's3'
  if (url.protocol.startsWith('postgres')) return 'postgres'
  if (ARCGIS_LAYER.test(url.pathname)) return 'arcgis'
  if (parameterOf(url, 'service')?.toUpperCase() === 'WFS') return 'wfs'
  return OGC_COLLECTION.test(url.pathname) ? 'ogc' : 'file'
}

/** The value of a parameter whose name may be written in any case. */
export function parameterOf(url: URL, name: string): string | null {
  for (const [key, value] of url.searchParams) if (key.toLowerCase() === name.toLowerCase()) return value
  return null
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
