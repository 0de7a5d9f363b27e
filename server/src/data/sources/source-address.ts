import { SourceError } from '@wayleave/geodata/compile'

/** What is at an address, which decides how it is read. */
export type SourceKind = 'file' | 's3' | 'postgres' | 'ogc' | 'wfs' | 'arcgis'

/** The secrets of a source. They are stored encrypted and never shown. */
export interface SourceCredentials {
  username?: string
  password?: string
  /** Headers of HTTP requests, such as `X-API-Key`. */
  headers?: Record<string, string>
  /** Parameters of the address, as they were written, such as `token=abc`. */
  parameters?: string
}

export interface SourceAddress {
  kind: SourceKind
  /** Without credentials. */
  address: string
  credentials: SourceCredentials | null
}

const ARCGIS_LAYER = /\/(FeatureServer|MapServer)\/\d+\/?$/i
const OGC_COLLECTION = /\/collections\/[^/]+(\/items)?\/?$/
/** The names of parameters whose values open what is at an address: tokens, keys and signatures. */
const SECRET_PARAMETER =
  /^((.*[-_.])?((api|auth|access|subscription|function)?key|sig|pwd|pass|passwd|ticket|auth|jwt)|.*(token|signature|credential|password|passphrase|secret))$/i

/** Whether a text is an address that can be published, and not the path of a file. */
export function isSourceAddress(text: string): boolean {
  return /^(https?|s3|postgres(ql)?):\/\//i.test(text)
}

/** Separates an address from the user name, password and other secrets in it. Throws a SourceError if it is none that can be read. */
export function parseSourceAddress(text: string, headers: Record<string, string> = {}): SourceAddress {
  const url = isSourceAddress(text) ? URL.parse(text) : null
  if (!url || (url.hostname === '' && !url.protocol.startsWith('postgres')))
    throw new SourceError('A source is an address that begins with https://, http://, s3:// or postgres://.')
  const kind = kindOf(url)
  const { username, password } = kind === 'postgres' ? databaseUser(url) : userOf(url)
  url.username = ''
  url.password = ''
  const parameters = secretParameters(url)
  const hasUser = username !== '' || password !== ''
  const credentials = {
    ...(hasUser && { username, password }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(parameters !== '' && { parameters }),
  }
  const hasCredentials = Object.keys(credentials).length > 0
  if (kind === 's3' && url.pathname.length <= 1)
    throw new SourceError('The address names no object: it is s3://bucket/key, or s3://bucket/prefix/.')
  if (Object.keys(headers).length > 0 && !/^https?:/.test(url.protocol))
    throw new SourceError('Headers belong to addresses that begin with https://.')
  return { kind, address: url.href, credentials: hasCredentials ? credentials : null }
}

/** The address as it is requested: with the parameters that are secrets. */
export function withSecretParameters(address: string, credentials: SourceCredentials | null): string {
  const { parameters } = credentials ?? {}
  if (parameters === undefined) return address
  return `${address}${address.includes('?') ? '&' : '?'}${parameters}`
}

function userOf(url: URL): { username: string; password: string } {
  return { username: decoded(url.username), password: decoded(url.password) }
}

/** As libpq has it, the parameters `user` and `password` come before the authority. */
function databaseUser(url: URL): { username: string; password: string } {
  const { searchParams } = url
  const { username, password } = userOf(url)
  const user = {
    username: searchParams.get('user') ?? username,
    password: searchParams.get('password') ?? password,
  }
  searchParams.delete('user')
  searchParams.delete('password')
  return user
}

/** Takes the parameters that are secrets out of the address. The others stay as they were written. */
function secretParameters(url: URL): string {
  const all = url.search.slice(1).split('&')
  const isSecret = (parameter: string) => SECRET_PARAMETER.test(decoded(parameter.split('=', 1)[0]!))
  const secrets = all.filter(isSecret)
  if (secrets.length > 0) url.search = all.filter((parameter) => !isSecret(parameter)).join('&')
  return secrets.join('&')
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
