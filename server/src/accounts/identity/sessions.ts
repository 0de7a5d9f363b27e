import { createHmac } from 'node:crypto'
import { type Clock, DAY, plus, SECOND } from '../../base/clock.ts'
import type { Changed, Changes } from '../../base/database/changes/changes.ts'
import type { ControlDatabase, Tx } from '../../base/database/open.ts'
import { type Origin, recordEvent, type UserOrigin } from '../../base/events/events.ts'
import { newId } from '../../base/id.ts'
import { Problem } from '../../base/problem.ts'
import { requireMember } from '../access/membership.ts'
import { readMemberships, setCurrentOrganization, startingOrganization } from '../access/membership-store.ts'
import { hashToken, newToken } from '../access/random-token.ts'
import { deleteKeysOfSession } from '../keys/store.ts'
import {
  deleteFamily,
  findRefreshToken,
  hasFamily,
  insertRefreshToken,
  lockRefreshToken,
  organizationOfFamily,
  type RefreshTokenRow,
  setOrganizationOfFamily,
  setReplaced,
} from '../users/session-store.ts'
import { findUser, lockUser, type User } from '../users/user-store.ts'

/**
 * A session ends if it was not refreshed for this long.
 *
 * See docs/decisions/derived-refresh-tokens.md.
 */
export const SESSION_LIFETIME = 30 * DAY
/** A replaced token is accepted for this long, for two tabs that refresh at once or a lost response. */
const GRACE = 10 * SECOND

export interface SessionsOptions {
  database: ControlDatabase
  changes: Changes
  clock: Clock
  /** The HMAC key that derives a token's successor. Shared by all nodes. */
  secret: string
}

export interface Session {
  refreshToken: string
  sessionId: string
  /** The organization that the session acts for; null for a user without one. */
  organizationId: string | null
}

/**
 * Sessions with refresh token rotation: each token is used once and replaced by its successor, and all that
 * descend from one sign-in are a family. A token that is used again later was copied; then the whole family
 * ends. Only hashes are stored. A successor is derived from its predecessor, so that it can be returned
 * again.
 */
export class Sessions {
  readonly #options: SessionsOptions

  constructor(options: SessionsOptions) {
    this.#options = options
  }

  async start(tx: Tx, userId: string): Promise<Session> {
    const refreshToken = newToken()
    const sessionId = newId('fam')
    const organizationId = await startingOrganization(tx, userId)
    await this.#insert(tx, refreshToken, { sessionId, userId, organizationId })
    return { refreshToken, sessionId, organizationId }
  }

  /** Checked at every use of an access token, so that signing out takes effect everywhere at once. */
  isLive(sessionId: string): Promise<boolean> {
    return hasFamily(this.#options.database.db, sessionId)
  }

  /** The organization of a user who is in one; null if they are in none, or in several. */
  async onlyOrganization(userId: string): Promise<string | null> {
    const [only, ...others] = await readMemberships(this.#options.database.db, userId)
    return only === undefined || others.length > 0 ? null : only.organizationId
  }

  /** The session acts for another organization of the user from now on; tokens that were issued before do not. */
  async switch(caller: UserOrigin & { sessionId: string }, organizationId: string): Promise<void> {
    const { database, clock } = this.#options
    const { userId, sessionId, origin } = caller
    await database.db.transaction().execute(async (tx) => {
      // Signing out and leaving an organization lock the user's row too.
      await lockUser(database, tx, userId)
      const current = await organizationOfFamily(tx, sessionId)
      if (current === undefined) throw new Problem('token-invalid')
      await requireMember(tx, { userId, organizationId }, organizationId)
      await setOrganizationOfFamily(tx, sessionId, organizationId)
      await setCurrentOrganization(tx, userId, organizationId)
      const from = current ?? caller.organizationId
      // After an invitation was accepted, the session may act for the only organization of the user already.
      if (from === organizationId) return
      await recordEvent(tx, clock(), origin, {
        action: 'session.switched',
        organizationId,
        subject: `user:${userId}`,
        detail: { from },
      })
    })
  }

  async refresh(token: string, origin: Origin): Promise<Session & { user: User }> {
    const { database, changes, clock } = this.#options
    const outcome = await changes.commit(async (tx, changed) => {
      const row = await lockRefreshToken(database, tx, hashToken(token))
      if (!row || Date.parse(row.expires_at) <= clock().getTime()) return null
      const successor = await this.#successor(tx, token, row)
      if (successor === null) {
        await this.#end(tx, changed, row, origin, 'reuse')
        return null
      }
      return { user: (await findUser(tx, row.user_id))!, ...successor, sessionId: row.family_id }
    })
    if (!outcome) throw new Problem('session-ended')
    return outcome
  }

  /** Signs out: ends the family and the keys created in it, on every node. Ignores unknown tokens. */
  async end(token: string, origin: Origin): Promise<void> {
    const { database, changes } = this.#options
    await changes.commit(async (tx, changed) => {
      const row = await lockRefreshToken(database, tx, hashToken(token))
      if (row) await this.#end(tx, changed, row, origin, 'sign-out')
    })
  }

  /**
   * Replaces the token and returns its successor, or the newest descendant if the token was replaced within
   * the grace period: a second tab must not put an already used token into the cookie that both share. Null
   * if it was replaced longer ago.
   */
  async #successor(
    tx: Tx,
    token: string,
    row: RefreshTokenRow,
  ): Promise<Pick<Session, 'refreshToken' | 'organizationId'> | null> {
    const { clock, secret } = this.#options
    const now = clock()
    const refreshToken = createHmac('sha256', secret).update(token).digest('base64url')
    if (row.replaced_at === null) {
      const { family_id: sessionId, user_id: userId } = row
      // A session stays in its organization, also if the user has left it: they choose another one themselves.
      const organizationId = row.organization_id ?? (await startingOrganization(tx, userId))
      await setReplaced(tx, row.token_hash, now)
      await this.#insert(tx, refreshToken, { sessionId, userId, organizationId })
      return { refreshToken, organizationId }
    }
    // In the future, if the clock of the node that replaced it was ahead: how long ago it was is not known then.
    if (Math.abs(now.getTime() - Date.parse(row.replaced_at)) > GRACE) return null
    const next = await findRefreshToken(tx, hashToken(refreshToken))
    if (!next) return null
    return next.replaced_at === null
      ? { refreshToken, organizationId: next.organization_id }
      : this.#successor(tx, refreshToken, next)
  }

  async #insert(
    tx: Tx,
    token: string,
    { sessionId, userId, organizationId }: Omit<Session, 'refreshToken'> & { userId: string },
  ): Promise<void> {
    const now = this.#options.clock()
    await insertRefreshToken(tx, {
      token_hash: hashToken(token),
      family_id: sessionId,
      user_id: userId,
      organization_id: organizationId,
      created_at: now.toISOString(),
      expires_at: plus(now, SESSION_LIFETIME).toISOString(),
      replaced_at: null,
    })
  }

  async #end(
    tx: Tx,
    changed: Changed,
    row: RefreshTokenRow,
    origin: Origin,
    reason: 'reuse' | 'sign-out',
  ): Promise<void> {
    await deleteFamily(tx, row.family_id)
    for (const id of await deleteKeysOfSession(tx, row.family_id)) changed('key', id)
    const subject = `user:${row.user_id}`
    await recordEvent(
      tx,
      this.#options.clock(),
      { ...origin, actor: reason === 'reuse' ? 'system' : subject },
      {
        action: 'session.ended',
        organizationId: row.organization_id,
        subject,
        detail: { reason },
      },
    )
  }
}
