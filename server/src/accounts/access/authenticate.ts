import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CacheLookups } from '../../base/caching/coherent-cache.ts'
import type { Acting, Origin } from '../../base/events/events.ts'
import { type Decision, type Limiter, type Rate, rateLimitHeaders } from '../../base/limits/limiter.ts'
import { andThen, type MaybePromise } from '../../base/maybe-promise.ts'
import { type Limit, Problem, type ProblemCode } from '../../base/problem.ts'
import { isTracing, traced } from '../../base/tracing/tracing.ts'
import { addressBucket } from '../../http/addresses.ts'
import type { Caller } from '../../http/caller.ts'
import { noteKey } from '../../http/observability/request-keys.ts'
import { pageOrigin } from './allowed-callers.ts'
import { anonymousGrant, type Grant, requireAdministration } from './grant.ts'
import type { Refusals } from './refusals.ts'
import type { Verifier } from './verifier.ts'

export interface SignedIn extends Acting {
  email: string
  sessionId: string
  /** When the access token expires, in milliseconds since 1970. */
  tokenEndsAt: number
  administrator: boolean
  origin: Origin
}

export interface AuthenticateOptions {
  verifier: Verifier
  /** The user of a valid access token, or null. */
  verifyToken: (token: string) => Promise<Omit<SignedIn, 'administrator' | 'origin'> | null>
  administrators: ReadonlySet<string>
  limiter: Limiter
  rates: { user: Rate; address: Rate; tile: Rate; open: Rate }
  /** Whether any key may be sent in the URL, not only a key for web pages. */
  keyInUrl: boolean
  refusals: Pick<Refusals, 'note'>
  /** Counts a call of an administration route with a key. */
  noteAdministration: (grant: Grant) => void
}

/**
 * The one place that authenticates requests. Data requests carry an API key, management requests a Bearer
 * token; neither is accepted in place of the other.
 */
export class Authenticate {
  readonly #options: AuthenticateOptions
  /** Not a property of the request: only `userOf` reads it. */
  readonly #users = new WeakMap<FastifyRequest, SignedIn>()
  readonly #origins = new WeakMap<FastifyRequest, Origin>()

  constructor(options: AuthenticateOptions) {
    this.#options = options
  }

  /** How often the grant of a key was in memory. */
  get keyLookups(): CacheLookups {
    return this.#options.verifier.lookups
  }

  /** An `onRequest` hook for management routes: runs before the body is read and validated. */
  readonly user = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const token = tokenIn(request.headers)
    if (!token) throw await this.#refuse(request, reply, 'token-missing', 'Bearer')
    const user = await this.#options.verifyToken(token)
    if (!user) throw await this.#refuse(request, reply, 'token-invalid', 'Bearer error="invalid_token"')
    await this.limit(reply, 'user', `user:${user.userId}`, this.#options.rates.user)
    // Responses to a signed-in user are private, and a new secret must not be stored in any cache.
    reply.header('cache-control', 'no-store')
    const origin = this.setOrigin(request, `user:${user.userId}`)
    const administrator = this.#options.administrators.has(user.email)
    this.#users.set(request, { ...user, administrator, origin })
  }

  /**
   * An `onRequest` hook for the routes of platform administrators, and of platform keys with `admin`. A key is taken
   * from its header only: browsers send those of Basic authentication by themselves.
   */
  readonly administrator = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { authorization, 'x-api-key': key } = request.headers
    if (authorization === undefined && key !== undefined && key !== '') {
      const grant = await this.key(request, reply)
      requireAdministration(grant)
      this.#options.noteAdministration(grant)
      reply.header('cache-control', 'no-store')
      this.setOrigin(request, `key:${grant.keyId}`)
      return
    }
    await this.user(request, reply)
    if (!this.userOf(request).administrator) throw new Problem('not-administrator')
  }

  userOf(request: FastifyRequest): SignedIn {
    const user = this.#users.get(request)
    if (!user) throw new Error('The route lacks the hook that signs its caller in.')
    return user
  }

  /** Who makes the request, for the audit log: a signed-in user, or the key of an administration route. */
  originOf(request: FastifyRequest): Origin {
    const origin = this.#origins.get(request)
    if (!origin) throw new Error('The route lacks the hook that authenticates its caller.')
    return origin
  }

  /** Says who makes the request; `originOf` then returns it. */
  setOrigin(request: FastifyRequest, actor: string): Origin {
    const origin = { actor, address: request.ip, requestId: request.id }
    this.#origins.set(request, origin)
    return origin
  }

  /** Returns the grant of a data request's key, or throws 401. Counts against the rate limits of the key and of its owner. */
  async key(request: FastifyRequest, reply: FastifyReply): Promise<Grant> {
    return this.keyOf(authRequestOf(request, reply))
  }

  /**
   * The same for either transport. Tiles have a bucket of their own: a map must not be stopped by a limit made
   * for pages. Synchronous if the key is cached and its limit is counted in-process.
   */
  keyOf(authRequest: AuthRequest, limit: 'key' | 'tile' = 'key'): MaybePromise<Grant> {
    // Without traces, no closure is made for each request.
    return isTracing()
      ? traced('key', () => this.#keyOf(authRequest, limit))
      : this.#keyOf(authRequest, limit)
  }

  #keyOf(authRequest: AuthRequest, limit: 'key' | 'tile'): MaybePromise<Grant> {
    const { verifier, refusals } = this.#options
    const secretInHeader = secretIn(authRequest.request.headers)
    const secret = secretInHeader ?? secretInUrl(authRequest.request)
    if (secret === undefined) return this.#refuseKey(authRequest, 'key-missing')
    if (isSentByOtherSite(authRequest.request.headers)) {
      throw new Problem(
        'origin-refused',
        'A page of another site cannot use a key that the browser remembers. Send the header X-API-Key, or open the address directly.',
      )
    }
    const cachedGrant = verifier.peek(secret, authRequest.request.socket)
    return andThen(cachedGrant ?? verifier.verify(secret), (grant) => {
      if (grant === null) {
        const secretHash = verifier.hashIfWellFormed(secret)
        refusals.note({ action: 'key.refused', address: authRequest.caller.address, secretHash })
        return this.#refuseKey(authRequest, 'key-invalid')
      }
      authRequest.noteKey(grant.keyId)
      // Neither is so for most requests.
      if (grant.allowedCallers !== null || secretInHeader === undefined) {
        const refused = this.#refusedUse(authRequest, grant, secretInHeader === undefined)
        if (refused !== null) return refused
      }
      return this.#limited(authRequest, grant, limit)
    })
  }

  /** Counts a request against the limits of its grant. */
  #limited(authRequest: AuthRequest, grant: Grant, limit: 'key' | 'tile'): MaybePromise<Grant> {
    const { limiter, rates } = this.#options
    if (limit === 'tile') {
      return andThen(limiter.take(`tile:${grant.owner}`, rates.tile), (decision) => {
        applyLimit(authRequest, limit, rates.tile, decision)
        return grant
      })
    }
    const { bucket, ownerBucket } = grant
    if (ownerBucket === null) {
      return andThen(limiter.take(bucket.name, bucket.rate), (decision) => {
        applyLimit(authRequest, 'key', bucket.rate, decision)
        return grant
      })
    }
    return andThen(limiter.takeBoth(bucket, ownerBucket), ({ decision, bucket: stricter }) => {
      applyLimit(authRequest, stricter === ownerBucket ? 'owner' : 'key', stricter.rate, decision)
      return grant
    })
  }

  /**
   * For what everybody may know: a key or the token of a signed-in user is optional, and counts if it is sent, because
   * its caller may know more. Without one the address is limited.
   */
  async optionalKey(request: FastifyRequest, reply: FastifyReply): Promise<Grant | null> {
    return this.optionalKeyOf(authRequestOf(request, reply))
  }

  /** The same for either transport. */
  optionalKeyOf(authRequest: AuthRequest): MaybePromise<Grant | null> {
    if (this.hasKey(authRequest.request)) return this.keyOf(authRequest)
    const token = tokenIn(authRequest.request.headers)
    if (token !== undefined) return this.#readerOf(authRequest, token)
    return andThen(this.#limitAddress(authRequest), () => null)
  }

  /** A token that is not valid is ignored: what everybody may know needs none. */
  async #readerOf(authRequest: AuthRequest, token: string): Promise<Grant | null> {
    const user = await this.#options.verifyToken(token)
    const grant = user && (await this.#options.verifier.ofUser(user))
    if (grant !== null) return this.#limited(authRequest, grant, 'key')
    await this.#limitAddress(authRequest)
    return null
  }

  /** Whether a request brings a key; not one that the browser sent by itself for another site. */
  hasKey(request: IncomingMessage): boolean {
    const secret = secretIn(request.headers) ?? secretInUrl(request)
    return secret !== undefined && !isSentByOtherSite(request.headers)
  }

  /** The grant of a request for open data without a key. Counts against the rate limit of its network address. */
  openDataOf(authRequest: AuthRequest, limit: 'key' | 'tile' = 'key'): MaybePromise<Grant> {
    const { limiter, rates } = this.#options
    const owner = addressBucket(authRequest.caller.address)
    const bucket =
      limit === 'tile'
        ? { name: `tile:${owner}`, rate: rates.tile }
        : { name: `open:${owner}`, rate: rates.open }
    return andThen(limiter.take(bucket.name, bucket.rate), (decision) => {
      applyLimit(authRequest, limit === 'tile' ? 'tile' : 'open', bucket.rate, decision)
      return anonymousGrant(owner, bucket)
    })
  }

  /**
   * Charges a request to the buckets of its key by what it cost: one token for each millisecond of the event loop after
   * the first. At most a tenth of the burst, so that a slow moment never locks a key out.
   */
  chargeTime({ bucket, ownerBucket }: Grant, milliseconds: number): void {
    for (const each of [bucket, ownerBucket]) {
      if (each === null) continue
      const tokens = Math.min(Math.floor(milliseconds), Math.floor(each.rate.burst / 10))
      if (tokens > 0) this.#options.limiter.charge(each, tokens)
    }
  }

  /** Counts a request without credentials against its network address. */
  async anonymous(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await this.#limitAddress(authRequestOf(request, reply))
  }

  /** Counts a request against a token bucket; throws 429 if it is empty. */
  async limit(reply: FastifyReply, name: RateName, bucket: string, rate: Rate): Promise<void> {
    const setSafeHeader = (header: string, value: string) => void reply.header(header, value)
    applyLimit({ setSafeHeader }, name, rate, await this.#options.limiter.take(bucket, rate))
  }

  /** Refuses a key that works, but not for this caller or not in this place; null if it may be used. */
  #refusedUse(authRequest: AuthRequest, grant: Grant, isInUrl: boolean): Promise<never> | null {
    const { allowedCallers, secretHash } = grant
    const { keyInUrl, refusals } = this.#options
    if (isInUrl && !keyInUrl && !allowedCallers?.areWebPages) {
      const detail = 'Only a key with allowed origins may be part of the URL. Send the header X-API-Key.'
      return this.#refuseKey(authRequest, 'key-missing', detail)
    }
    const { headers } = authRequest.request
    const { address } = authRequest.caller
    const code = allowedCallers?.refusal(headers, address) ?? null
    if (code === null) return null
    refusals.note({ action: 'key.refused', address, secretHash, reason: code })
    const caller = code === 'address-not-allowed' ? `the address ${address}` : pageWords(pageOrigin(headers))
    return this.#refuseCounted(authRequest, new Problem(code, `The API key may not be used by ${caller}.`))
  }

  #limitAddress(authRequest: AuthRequest): MaybePromise<void> {
    const { limiter, rates } = this.#options
    return andThen(limiter.take(addressBucket(authRequest.caller.address), rates.address), (decision) =>
      applyLimit(authRequest, 'address', rates.address, decision),
    )
  }

  /** Rejected requests count against their network address, so that guessing keys is rate limited. */
  async #refuseCounted(authRequest: AuthRequest, problem: Problem): Promise<never> {
    await this.#limitAddress(authRequest)
    throw problem
  }

  #refuseKey(authRequest: AuthRequest, code: ProblemCode, detail?: string): Promise<never> {
    const headers = { 'www-authenticate': KEY_CHALLENGE }
    return this.#refuseCounted(authRequest, new Problem(code, detail, { headers }))
  }

  async #refuse(
    request: FastifyRequest,
    reply: FastifyReply,
    code: ProblemCode,
    challenge: string,
  ): Promise<Problem> {
    await this.anonymous(request, reply)
    return new Problem(code, undefined, { headers: { 'www-authenticate': challenge } })
  }
}

function tokenIn({ authorization }: IncomingHttpHeaders): string | undefined {
  return authorization === undefined ? undefined : /^Bearer +([\w.~+/=-]+)$/i.exec(authorization)?.[1]
}

/** What authentication needs of a request, whichever transport received it. `Exchange` implements it. */
export interface AuthRequest {
  request: IncomingMessage
  caller: Pick<Caller, 'address'>
  /** Sets a header whose value is made of our own names and numbers. */
  setSafeHeader(name: string, value: string): void
  /** Keeps the id of the key for the log. */
  noteKey(keyId: string): void
}

export function authRequestOf(request: FastifyRequest, reply: FastifyReply): AuthRequest {
  return {
    request: request.raw,
    caller: { address: request.ip },
    setSafeHeader: (name, value) => void reply.header(name, value),
    noteKey: (keyId) => noteKey(request.raw, keyId),
  }
}

type RateName = 'key' | 'owner' | 'tile' | 'open' | 'user' | 'address' | 'sign-in'

/** Sets the rate limit headers; throws 429 if the limit is exceeded. */
function applyLimit(
  response: Pick<AuthRequest, 'setSafeHeader'>,
  name: RateName,
  rate: Rate,
  decision: Decision,
): void {
  const [policy, state] = rateLimitHeaders(name, rate, decision)
  response.setSafeHeader('ratelimit-policy', policy)
  response.setSafeHeader('ratelimit', state)
  if (!decision.allowed) {
    throw new Problem('rate-limited', `Too many requests. Try again in ${decision.retryAfter} s.`, {
      headers: { 'retry-after': String(decision.retryAfter) },
      limit: `${name}-rate` satisfies Limit,
    })
  }
}

function secretIn({ 'x-api-key': header, authorization: basic }: IncomingHttpHeaders): string | undefined {
  if (typeof header === 'string' && header !== '') return header
  if (basic === undefined || !/^basic /i.test(basic)) return undefined
  const [name = '', password = ''] = splitOnce(Buffer.from(basic.slice(6), 'base64').toString('utf8'), ':')
  return KEY_FORM.test(password) ? password : name
}

/** Logs contain no query strings, so the secret is in none of them. */
function secretInUrl({ url = '' }: IncomingMessage): string | undefined {
  // Almost every URL is without it.
  if (!url.includes('api_key=')) return undefined
  const values = new URLSearchParams(url.slice(url.indexOf('?') + 1)).getAll('api_key')
  return values.length === 1 && values[0] !== '' ? values[0] : undefined
}

/** The key of an admitted request, to be added to a URL, if it was sent in the URL; otherwise an empty text. */
export function keyQueryOf(request: IncomingMessage): string {
  if (secretIn(request.headers) !== undefined) return ''
  const secret = secretInUrl(request)
  return secret === undefined ? '' : `&api_key=${encodeURIComponent(secret)}`
}

function pageWords(origin: string | undefined): string {
  if (origin === undefined) return 'a request without the header Origin or Referer'
  return `pages of ${origin.slice(0, 200)}`
}

/**
 * Whether a browser may have added the credentials by itself: it remembers those of Basic authentication, and
 * sends them with links, forms, images and scripts of other sites, which would spend the owner's credits. A
 * page that knows the key sends it in `X-API-Key`. Browsers send `none` if the user typed the address or chose
 * a bookmark; other programs do not send the header.
 */
function isSentByOtherSite(headers: IncomingHttpHeaders): boolean {
  if (headers.authorization === undefined || headers['x-api-key'] !== undefined) return false
  const site = headers['sec-fetch-site']
  return site !== undefined && site !== 'same-origin' && site !== 'none'
}

/** In Basic authentication, clients put the key into either field and any text into the other. */
const KEY_FORM = /^[a-z0-9]+_[a-z0-9]+_[0-9A-Za-z]{32}$/

/** Not Basic, although it is accepted: browsers would prompt for a user name, also those who are signed in. */
const KEY_CHALLENGE = 'ApiKey header="X-API-Key"'

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)]
}
