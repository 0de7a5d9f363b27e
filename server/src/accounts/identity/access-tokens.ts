import { errors, jwtVerify, SignJWT } from 'jose'
import { type Clock, MINUTE, SECOND } from '../../base/clock.ts'
import type { SigningKeys } from './signing-keys.ts'

const LIFETIME = 15 * MINUTE
const AUDIENCE = 'wayleave'
const ALGORITHM = 'EdDSA'

export interface TokenUser {
  userId: string
  email: string
  /** The session that the token was issued in. */
  sessionId: string
}

/**
 * Issues and verifies access tokens: signed by one of our keys, with us as audience, with one fixed
 * algorithm. Nothing is negotiable.
 */
export class AccessTokens {
  readonly #keys: SigningKeys
  readonly #issuer: string
  readonly #clock: Clock
  readonly #isLive: (sessionId: string) => Promise<boolean>

  constructor(
    keys: SigningKeys,
    issuer: string,
    clock: Clock,
    isLive: (sessionId: string) => Promise<boolean>,
  ) {
    this.#keys = keys
    this.#issuer = issuer
    this.#clock = clock
    this.#isLive = isLive
  }

  async issue({ userId, email, sessionId }: TokenUser): Promise<{ accessToken: string; expiresIn: number }> {
    const { kid, privateKey } = await this.#keys.current()
    const now = Math.floor(this.#clock().getTime() / SECOND)
    const expiresIn = LIFETIME / SECOND
    const accessToken = await new SignJWT({ email, sid: sessionId })
      .setProtectedHeader({ alg: ALGORITHM, kid, typ: 'at+jwt' })
      .setSubject(userId)
      .setIssuer(this.#issuer)
      .setAudience(AUDIENCE)
      .setIssuedAt(now)
      .setExpirationTime(now + expiresIn)
      .sign(privateKey)
    return { accessToken, expiresIn }
  }

  /** Null if the token is not a valid token of ours, or its session has ended. */
  async verify(token: string): Promise<TokenUser | null> {
    const user = await this.#read(token)
    return user && (await this.#isLive(user.sessionId)) ? user : null
  }

  async #read(token: string): Promise<TokenUser | null> {
    try {
      const { payload } = await jwtVerify<{ email: string; sid: string }>(
        token,
        async ({ kid }) => {
          const key = kid === undefined ? undefined : await this.#keys.find(kid)
          if (!key) throw new errors.JWKSNoMatchingKey()
          return key
        },
        {
          algorithms: [ALGORITHM],
          issuer: this.#issuer,
          audience: AUDIENCE,
          typ: 'at+jwt',
          requiredClaims: ['sub', 'exp', 'email', 'sid'],
          currentDate: this.#clock(),
        },
      )
      return { userId: payload.sub!, email: payload.email, sessionId: payload.sid }
    } catch (error) {
      if (error instanceof errors.JOSEError) return null
      throw error
    }
  }
}
