import { createHash, randomBytes } from 'node:crypto'
import { hashOf as hashOfSecret } from '../../accounts/access/secret.ts'
import type { Keys } from '../../accounts/keys/keys.ts'
import { type Clock, DAY, HOUR, MINUTE, plus, SECOND } from '../../base/clock.ts'
import type { Db, Tx } from '../../base/database/open.ts'
import { type Acting, type Origin, system, type UserOrigin } from '../../base/events/events.ts'
import { Problem } from '../../base/problem.ts'
import { allowsRedirect, type Client, programOf, type RegisteredClients } from './client.ts'
import type { ClientDocuments } from './client-documents.ts'
import { deleteCode, findCode, insertCode, replaceCode, type StoredCode } from './code-store.ts'

const CODE_LIFE = 2 * MINUTE
/** How long a second use of a code is noticed. */
const USED_LIFE = HOUR
const CHALLENGE = /^[\w-]{43}$/
const VERIFIER = /^[\w.~-]{43,128}$/

/** What a client sends with the user to the page that asks for consent. */
export interface AuthorizationRequest {
  client_id: string
  redirect_uri: string
  response_type: string
  code_challenge: string
  code_challenge_method: string
  state?: string
  resource?: string
  scope?: string
}

/** What the user agrees to. */
export interface Consent {
  /** The datasets that may be read; null for all that the user may read. */
  tables: string[] | null
  /** The credits that it may spend in a month. */
  credits: number
  /** How many days the access lasts. */
  days: number
}

export interface TokenRequest {
  grant_type: string | undefined
  code: string | undefined
  redirect_uri: string | undefined
  client_id: string | undefined
  code_verifier: string | undefined
  resource: string | undefined
}

/** A refusal as OAuth names it. */
export class TokenRefused extends Error {
  readonly code: string

  constructor(code: string, description: string) {
    super(description)
    this.code = code
  }
}

interface Granted extends Consent, Acting {
  clientId: string
  clientName: string
  program: string
  redirectUri: string
  challenge: string
  /** The hash of the secret that the code was exchanged for; missing while it was not used. */
  secretHash?: string
}

export interface AuthorizationOptions {
  db: Db
  clock: Clock
  keys: Keys
  registered: RegisteredClients
  documents: ClientDocuments
}

/**
 * Lets a user give an assistant a key, by the authorization code flow of OAuth 2.1 with PKCE. What the assistant gets
 * is a personal key: in the user's list, limited, counted and revoked like any other.
 */
export class Authorization {
  readonly #options: AuthorizationOptions

  constructor(options: AuthorizationOptions) {
    this.#options = options
  }

  /** The client of a request, if everything about the request is right. `resource` is what the service grants. */
  async check(request: AuthorizationRequest, resource: string): Promise<Client> {
    const client = await this.#client(request.client_id)
    if (!client)
      throw invalid('The program that sent you is not known here, or its description cannot be read.')
    if (!allowsRedirect(client, request.redirect_uri)) {
      throw invalid('The address to return to is not one of the program that sent you.')
    }
    if (request.response_type !== 'code') throw invalid('response_type must be code.')
    if (request.code_challenge_method !== 'S256' || !CHALLENGE.test(request.code_challenge)) {
      throw invalid('A code_challenge by the method S256 is needed.')
    }
    if (request.resource !== undefined && request.resource !== resource) {
      throw invalid(`The resource must be ${resource}.`)
    }
    return client
  }

  /** Returns where the user goes on: back to the client, with a code. */
  async consent(
    { userId, organizationId }: UserOrigin,
    request: AuthorizationRequest,
    { tables, days, credits }: Consent,
    place: { issuer: string; resource: string },
  ): Promise<string> {
    const client = await this.check(request, place.resource)
    const code = randomBytes(32).toString('base64url')
    const granted: Granted = {
      userId,
      organizationId,
      tables,
      days,
      credits,
      clientId: client.id,
      clientName: client.name,
      program: programOf(client),
      redirectUri: request.redirect_uri,
      challenge: request.code_challenge,
    }
    const { db, clock } = this.#options
    const expires = plus(clock(), CODE_LIFE).toISOString()
    await insertCode(db, { id: hashOf(code), content: JSON.stringify(granted), expires_at: expires })
    return returnAddress(request, { code, iss: place.issuer })
  }

  /**
   * Exchanges a code for a key, once. A second use shows that somebody else has the code too, so it revokes the key
   * that the first one got (OAuth 2.1, 4.1.3).
   */
  async exchange(
    request: TokenRequest,
    resource: string,
    origin: Origin,
  ): Promise<{ secret: string; seconds: number }> {
    if (request.grant_type !== 'authorization_code') {
      throw new TokenRefused('unsupported_grant_type', 'The grant_type must be authorization_code.')
    }
    if (request.resource !== undefined && request.resource !== resource) {
      throw new TokenRefused('invalid_target', `The resource must be ${resource}.`)
    }
    const { db, clock } = this.#options
    const stored = request.code ? await findCode(db, hashOf(request.code)) : undefined
    if (!stored) throw invalidGrant()
    const granted = JSON.parse(stored.content) as Granted
    const isRight = isFor(granted, request)
    if (isRight && granted.secretHash === undefined && stored.expires_at > clock().toISOString()) {
      const secret = await this.#give(stored, granted, origin)
      if (secret !== null) return { secret, seconds: (granted.days * DAY) / SECOND }
    }
    // Only the program that has the verifier can use a code: the guesses of others revoke nothing.
    if (isRight) await this.#revokeGiven(stored.id, origin)
    else if (granted.secretHash === undefined) await deleteCode(db, stored)
    throw invalidGrant()
  }

  /** The key that the user agreed to; null if another request has used the code meanwhile. */
  async #give(stored: StoredCode, granted: Granted, origin: Origin): Promise<string | null> {
    const { clock, keys } = this.#options
    const { userId, organizationId, tables, days, credits, clientName, program } = granted
    const caller = { userId, organizationId, origin: { ...origin, actor: `user:${userId}` } }
    const newKey = {
      name: clientName,
      permissions: tables === null ? ['read'] : tables.map((table) => `read:${table}`),
      expiresAt: plus(clock(), days * DAY).toISOString(),
      creditLimit: credits,
    }
    const markUsed = async (tx: Tx, secret: string) => {
      const content = JSON.stringify({ ...granted, secretHash: hashOfSecret(secret) })
      const expires_at = plus(clock(), USED_LIFE).toISOString()
      if (!(await replaceCode(tx, stored, { content, expires_at }))) throw new CodeUsed()
    }
    try {
      return (await keys.giveToAssistant(caller, newKey, program, markUsed)).secret
    } catch (error) {
      if (error instanceof CodeUsed) return null
      throw error
    }
  }

  async #revokeGiven(codeId: string, origin: Origin): Promise<void> {
    const { db, keys } = this.#options
    const used = await findCode(db, codeId)
    const { secretHash } = used ? (JSON.parse(used.content) as Granted) : {}
    if (secretHash === undefined) return
    await keys.revokeSecret({ ...origin, actor: system.actor }, secretHash, 'its code was used a second time')
  }

  async #client(id: string): Promise<Client | null> {
    const { registered, documents } = this.#options
    return /^https?:/.test(id) ? documents.find(id) : registered.find(id)
  }
}

/** Another request has used the code, so the transaction of this one is rolled back. */
class CodeUsed extends Error {}

function isFor(granted: Granted, { client_id, redirect_uri, code_verifier = '' }: TokenRequest): boolean {
  return (
    granted.clientId === client_id &&
    granted.redirectUri === redirect_uri &&
    VERIFIER.test(code_verifier) &&
    hashOf(code_verifier) === granted.challenge
  )
}

/** The address of the client, with what it is to know. */
export function returnAddress(
  { redirect_uri, state }: Pick<AuthorizationRequest, 'redirect_uri' | 'state'>,
  values: Record<string, string>,
): string {
  const url = new URL(redirect_uri)
  for (const [name, value] of Object.entries(values)) url.searchParams.set(name, value)
  if (state !== undefined) url.searchParams.set('state', state)
  return url.href
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

function invalidGrant(): TokenRefused {
  return new TokenRefused('invalid_grant', 'The code is not valid for this request, or was used before.')
}

function invalid(detail: string): Problem {
  return new Problem('assistant-request-invalid', detail)
}
