import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { isLoopback } from '../../base/loopback.ts'
import { plain } from '../plain-text.ts'

/** A program that asks to act for a user. What it says about itself is not verified. */
export interface Client {
  id: string
  name: string
  /** The host that publishes its description, which nobody else can; null for a client that only registered. */
  host: string | null
  redirectUris: readonly string[]
}

/** What a client says about itself: a part of the client metadata of RFC 7591. */
export interface ClientMetadata {
  client_name?: unknown
  redirect_uris?: unknown
}

const MAX_NAME = 80
const MAX_URIS = 10
const MAX_URI = 500
/**
 * The schemes of programs are domain names in reverse order (RFC 8252, 7.1). Those without a dot belong to browsers and
 * systems, and some of them run or open things: `javascript:`, `file:`, `intent:`, `ms-settings:`.
 */
const PROGRAM_SCHEME = /^[a-z][a-z0-9-]*(\.[a-z0-9][a-z0-9-]*)+:$/
/** Well-known editors that have a scheme without a dot. */
const EDITOR_SCHEMES = new Set(['cursor:', 'vscode:', 'vscode-insiders:', 'windsurf:', 'zed:'])

/** Null if the metadata cannot be used. */
export function readClient(id: string, host: string | null, metadata: ClientMetadata): Client | null {
  const { client_name: name, redirect_uris: uris } = metadata
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > MAX_URIS) return null
  if (!uris.every((uri): uri is string => typeof uri === 'string' && isRedirectUri(uri))) return null
  const shown = typeof name === 'string' ? plain(name, MAX_NAME) : ''
  return { id, host, name: shown === '' ? (host ?? 'An assistant') : shown, redirectUris: uris }
}

/** An address to which a user may be sent back: https, this machine, or a program with a scheme of its own. */
export function isRedirectUri(text: string): boolean {
  const url = text.length <= MAX_URI ? URL.parse(text) : null
  if (url?.hash !== '' || text.endsWith('#') || url.username !== '' || url.password !== '') return false
  if (url.protocol === 'http:') return isLoopback(url.hostname)
  const { protocol } = url
  return protocol === 'https:' || EDITOR_SCHEMES.has(protocol) || PROGRAM_SCHEME.test(protocol)
}

/** Whether a client may be sent to this address. A program on the user's machine takes any free port (RFC 8252). */
export function allowsRedirect({ redirectUris }: Client, uri: string): boolean {
  if (!isRedirectUri(uri)) return false
  return redirectUris.some((allowed) => allowed === uri || withoutPort(allowed) === withoutPort(uri))
}

/**
 * A name of the program that is the same at its next sign-in. A program on the user's machine may register again with
 * another port each time.
 */
export function programOf({ id, host, name, redirectUris }: Client): string {
  const parts = host === null ? [name, ...redirectUris.map(withoutPort).sort()] : [id]
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}

/** The address itself, if it is not that of this machine. */
function withoutPort(uri: string): string {
  const url = new URL(uri)
  if (url.protocol !== 'http:' || !isLoopback(url.hostname)) return uri
  url.port = ''
  return url.href
}

/**
 * Clients that register are not stored, since anybody may register any number: the id that a client gets holds what it
 * said, with a signature.
 */
export class RegisteredClients {
  readonly #secret: string

  constructor(secret: string) {
    this.#secret = secret
  }

  /** Null if the metadata cannot be used. */
  register(metadata: ClientMetadata): Client | null {
    const client = readClient('', null, metadata)
    if (!client) return null
    const text = Buffer.from(JSON.stringify([client.name, client.redirectUris])).toString('base64url')
    return { ...client, id: `${text}.${this.#sign(text)}` }
  }

  find(id: string): Client | null {
    const [text, signature, ...rest] = id.split('.')
    if (!text || !signature || rest.length > 0) return null
    const given = Buffer.from(signature)
    const right = Buffer.from(this.#sign(text))
    if (given.length !== right.length || !timingSafeEqual(given, right)) return null
    const [name, redirectUris] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [string, string[]]
    return { id, host: null, name, redirectUris }
  }

  #sign(text: string): string {
    return createHmac('sha256', this.#secret).update(text).digest('base64url')
  }
}
