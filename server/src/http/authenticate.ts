import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Origin } from '../events/events.ts'
import type { Grant } from '../keys/grant.ts'
import type { Verifier } from '../keys/verifier.ts'
import { type Decision, type Limiter, type Rate, rateLimitHeaders } from '../limits/limiter.ts'
import { Problem, type ProblemCode } from '../problem.ts'
import { addressBucket } from './address.ts'

export interface SignedIn {
  userId: string
  email: string
  sessionId: string
  administrator: boolean
  origin: Origin
}

export interface AuthenticateOptions {
  verifier: Verifier
  /** The user of a valid access token, else null. */
  verifyToken: (token: string) => Promise<Pick<SignedIn, 'userId' | 'email' | 'sessionId'> | null>
  administrators: ReadonlySet<string>
  limiter: Limiter
  rates: { user: Rate; address: Rate }
  keyInUrl: boolean
}

/**
 * The one place that finds out who asks. Data requests carry a key, management requests a Bearer token;
 * neither is accepted in the other's place.
 */
export class Authenticate {
  readonly #options: AuthenticateOptions
  /** Beside the request, not on it: only `userOf` reads it. */
  readonly #users = new WeakMap<FastifyRequest, SignedIn>()

  constructor(options: AuthenticateOptions) {
    this.#options = options
  }

  /** An `onRequest` hook for management routes: before the body is read, let alone judged. */
  readonly user = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const header = request.headers.authorization
    const token = header && /^Bearer +([\w.~+/=-]+)$/i.exec(header)?.[1]
    if (!token) throw await this.#refuse(request, reply, 'token-missing', 'Bearer')
    const user = await this.#options.verifyToken(token)
    if (!user) throw await this.#refuse(request, reply, 'token-invalid', 'Bearer error="invalid_token"')
    await this.limit(reply, 'user', `user:${user.userId}`, this.#options.rates.user)
    // What a person sees when signed in is theirs alone, and a new secret is not to be kept anywhere.
    reply.header('cache-control', 'no-store')
    this.#users.set(request, {
      ...user,
      administrator: this.#options.administrators.has(user.email),
      origin: { actor: `user:${user.userId}`, address: request.ip, requestId: request.id },
    })
  }

  /** An `onRequest` hook for the routes of platform administrators. */
  readonly administrator = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    await this.user(request, reply)
    if (!this.userOf(request).administrator) throw new Problem('not-administrator')
  }

  userOf(request: FastifyRequest): SignedIn {
    const user = this.#users.get(request)
    if (!user) throw new Error('The route lacks the hook that signs its caller in.')
    return user
  }

  /** The key of a data request, or 401; counted against the key's rate. */
  async key(request: FastifyRequest, reply: FastifyReply): Promise<Grant> {
    const secret = this.#secretOf(request)
    if (secret === undefined) throw await this.#refuse(request, reply, 'key-missing', keyChallenge(request))
    const { verifier } = this.#options
    const grant = verifier.peek(secret, request.raw.socket) ?? (await verifier.verify(secret))
    if (!grant) throw await this.#refuse(request, reply, 'key-invalid', keyChallenge(request))
    await this.limit(reply, 'key', bucketOf(grant), grant.rate)
    return grant
  }

  /**
   * The key of a request that needs no wait: it is in memory, its limit is counted here and not reached. Null
   * otherwise. Nothing is counted yet.
   */
  peekKey({ headers, socket }: IncomingMessage): Grant | null {
    const { limiter, verifier } = this.#options
    if (!limiter.isLocal) return null
    const secret = secretIn(headers)
    const grant = secret === undefined ? null : verifier.peek(secret, socket)
    if (grant === null) return null
    return (limiter.peek(bucketOf(grant), grant.rate) as Decision).allowed ? grant : null
  }

  /** Counts a request of a key that was peeked, and answers the headers that tell its caller where they stand. */
  countPeeked(grant: Grant): [policy: string, state: string] {
    const decision = this.#options.limiter.take(bucketOf(grant), grant.rate) as Decision
    return rateLimitHeaders('key', grant.rate, decision)
  }

  /** Public data: a key is not needed, and counts where it is given; without one the address is limited. */
  async optionalKey(request: FastifyRequest, reply: FastifyReply): Promise<Grant | null> {
    if (this.#secretOf(request) !== undefined) return this.key(request, reply)
    await this.anonymous(request, reply)
    return null
  }

  /** Counts a request without credentials against its network address. */
  async anonymous(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await this.limit(reply, 'address', addressBucket(request.ip), this.#options.rates.address)
  }

  #secretOf({ headers, query }: FastifyRequest): string | undefined {
    const secret = secretIn(headers)
    if (secret !== undefined || !this.#options.keyInUrl) return secret
    const given = (query as Record<string, unknown>)['api_key']
    return typeof given === 'string' && given !== '' ? given : undefined
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

  /** Counts a request against a bucket; 429 where it is empty. */
  async limit(reply: FastifyReply, name: string, bucket: string, rate: Rate): Promise<void> {
    const taken = this.#options.limiter.take(bucket, rate)
    answerLimit(reply, name, rate, taken instanceof Promise ? await taken : taken)
  }
}

/** Tells the caller where they stand; 429 where they asked too often. */
function answerLimit(reply: FastifyReply, name: string, rate: Rate, decision: Decision): void {
  const [policy, state] = rateLimitHeaders(name, rate, decision)
  reply.header('ratelimit-policy', policy)
  reply.header('ratelimit', state)
  if (!decision.allowed) {
    throw new Problem('rate-limited', `Too many requests. Try again in ${decision.retryAfter} s.`, {
      headers: { 'retry-after': String(decision.retryAfter) },
    })
  }
}

/** All session keys of a user share one: a fresh key every second would else be a fresh bucket. */
function bucketOf({ payer }: Grant): string {
  return `key:${payer}`
}

function secretIn({ 'x-api-key': header, authorization: basic }: IncomingHttpHeaders): string | undefined {
  if (typeof header === 'string' && header !== '') return header
  if (basic === undefined || !/^basic /i.test(basic)) return undefined
  const [name = '', password = ''] = splitOnce(Buffer.from(basic.slice(6), 'base64').toString('utf8'), ':')
  return SECRET_LIKE.test(password) ? password : name
}

/** Programs put the key in either field, and something of their own in the other. */
const SECRET_LIKE = /^[a-z0-9]+_[a-z0-9]+_[0-9A-Za-z]{32}$/

/** A browser that shows an HTML page can ask its user for the key; programs are told of the header. */
function keyChallenge(request: FastifyRequest): string {
  const html = request.headers.accept?.includes('text/html')
  return html ? 'Basic realm="API key as user name", charset="UTF-8"' : 'ApiKey header="X-API-Key"'
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)]
}
