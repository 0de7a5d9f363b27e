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
  administrator: boolean
  origin: Origin
}

export interface AuthenticateOptions {
  verifier: Verifier
  /** The user of a valid access token, else null. */
  verifyToken: (token: string) => Promise<{ userId: string; email: string } | null>
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
    return this.keyAtOnce(request, reply)
  }

  /** The same without a wait where the key is known and the limits are counted here: features are paged by it. */
  keyAtOnce(request: FastifyRequest, reply: FastifyReply): Grant | Promise<Grant> {
    const secret = this.#secretOf(request)
    const grant = secret === undefined ? null : this.#options.verifier.verify(secret)
    if (grant === null || grant instanceof Promise) return this.#keyLater(request, reply, secret, grant)
    const taken = this.#options.limiter.take(`key:${grant.keyId}`, grant.rate)
    if (taken instanceof Promise) {
      return taken.then((decision) => {
        answerLimit(reply, 'key', grant.rate, decision)
        return grant
      })
    }
    answerLimit(reply, 'key', grant.rate, taken)
    return grant
  }

  async #keyLater(
    request: FastifyRequest,
    reply: FastifyReply,
    secret: string | undefined,
    verifying: Promise<Grant | null> | null,
  ): Promise<Grant> {
    if (secret === undefined) throw await this.#refuse(request, reply, 'key-missing', keyChallenge(request))
    const grant = await verifying
    if (!grant) throw await this.#refuse(request, reply, 'key-invalid', keyChallenge(request))
    await this.limit(reply, 'key', `key:${grant.keyId}`, grant.rate)
    return grant
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

  #secretOf(request: FastifyRequest): string | undefined {
    const header = request.headers['x-api-key']
    if (typeof header === 'string' && header !== '') return header
    const basic = request.headers.authorization
    if (basic !== undefined && /^basic /i.test(basic)) {
      const [name = '', password = ''] = splitOnce(
        Buffer.from(basic.slice(6), 'base64').toString('utf8'),
        ':',
      )
      return SECRET_LIKE.test(password) ? password : name
    }
    if (this.#options.keyInUrl) {
      const given = (request.query as Record<string, unknown>)['api_key']
      if (typeof given === 'string' && given !== '') return given
    }
    return undefined
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
    const decision = taken instanceof Promise ? await taken : taken
    answerLimit(reply, name, rate, decision)
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
