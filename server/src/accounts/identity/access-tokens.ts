import { errors, jwtVerify, SignJWT } from 'jose'
import { type Clock, MINUTE, SECOND } from '../../base/clock.ts'
import type { Acting } from '../../base/events/events.ts'
import type { SigningKeys } from './signing-keys.ts'

const LIFETIME = 15 * MINUTE
const AUDIENCE = 'wayleave'
const ALGORITHM = 'EdDSA'

export interface TokenUser extends Acting {
  email: string
  /** The session that the token was issued in. */
  sessionId: string
}

export interface AccessTokensOptions {
  keys: SigningKeys
  issuer: string
  clock: Clock
  isLive: (sessionId: string) => Promise<boolean>
  /** For tokens that name no organization: the user's only one, or null. */
  onlyOrganization: (userId: string) => Promise<string | null>
}

/**
 * Issues and verifies access tokens: signed by one of our keys, with us as audience, with one fixed
 * algorithm. Nothing is negotiable.
 */
export class AccessTokens {
  readonly #options: AccessTokensOptions

  constructor(options: AccessTokensOptions) {
    this.#options = options
  }

  /** The token ends after 15 minutes, and not after `latestEnd`, in milliseconds since 1970. */
  async issue(
    { userId, email, sessionId, organizationId }: TokenUser,
    latestEnd = Number.POSITIVE_INFINITY,
  ): Promise<{ accessToken: string; expiresIn: number }> {
    const { keys, issuer, clock } = this.#options
    const { kid, privateKey } = await keys.current()
    const now = Math.floor(clock().getTime() / SECOND)
    const expiresIn = Math.min(LIFETIME / SECOND, Math.floor(latestEnd / SECOND) - now)
    const organization = organizationId === null ? {} : { org: organizationId }
    const accessToken = await new SignJWT({ email, sid: sessionId, ...organization })
      .setProtectedHeader({ alg: ALGORITHM, kid, typ: 'at+jwt' })
      .setSubject(userId)
      .setIssuer(issuer)
      .setAudience(AUDIENCE)
      .setIssuedAt(now)
      .setExpirationTime(now + expiresIn)
      .sign(privateKey)
    return { accessToken, expiresIn }
  }

  /** Null if the token is not a valid token of ours, or its session has ended. */
  async verify(token: string): Promise<(TokenUser & { tokenEndsAt: number }) | null> {
    const { isLive, onlyOrganization } = this.#options
    const user = await this.#read(token)
    if (user === null || !(await isLive(user.sessionId))) return null
    const organizationId = user.organizationId ?? (await onlyOrganization(user.userId))
    return { ...user, organizationId }
  }

  async #read(token: string): Promise<(TokenUser & { tokenEndsAt: number }) | null> {
    const { keys, issuer, clock } = this.#options
    try {
      const { payload } = await jwtVerify<{ email: string; sid: string; org?: string }>(
        token,
        async ({ kid }) => {
          const key = kid === undefined ? undefined : await keys.find(kid)
          if (!key) throw new errors.JWKSNoMatchingKey()
          return key
        },
        {
          algorithms: [ALGORITHM],
          issuer,
          audience: AUDIENCE,
          typ: 'at+jwt',
          requiredClaims: ['sub', 'exp', 'email', 'sid'],
          currentDate: clock(),
        },
      )
      return {
        userId: payload.sub!,
        email: payload.email,
        sessionId: payload.sid,
        organizationId: payload.org ?? null,
        tokenEndsAt: payload.exp! * SECOND,
      }
    } catch (error) {
      if (error instanceof errors.JOSEError) return null
      throw error
    }
  }
}
