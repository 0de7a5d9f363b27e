import type { Logger } from 'pino'
import { type Clock, DAY, MINUTE, plus } from '../../base/clock.ts'
import { Background } from '../../base/concurrency/background.ts'
import type { ControlDatabase, Tx } from '../../base/database/open.ts'
import { type Origin, recordEvent } from '../../base/events/events.ts'
import { newId } from '../../base/id.ts'
import type { Limiter, Rate } from '../../base/limits/limiter.ts'
import type { Mailer } from '../../base/mail/mail.ts'
import { signInMail } from '../../base/mail/mail-texts.ts'
import { Problem } from '../../base/problem.ts'
import { hashToken, newToken } from '../access/random-token.ts'
import type { Refusals } from '../access/refusals.ts'
import { hasOpenInvitation } from '../organizations/invitation-store.ts'
import { foundOrganization, type StartingGrant } from '../organizations/organizations.ts'
import { deleteRefreshTokensExpiredBefore } from '../users/session-store.ts'
import {
  findOrCreateUser,
  findUser,
  findUserByEmail,
  lockUser,
  setLastSignIn,
  type User,
} from '../users/user-store.ts'
import { hashCode, matchesCode, newCode } from './code.ts'
import {
  addWrongCode,
  countWrongCodes,
  deleteOldLinks,
  insertLink,
  type LinkRow,
  lockOutstandingLinks,
  MAX_WRONG_CODES,
  useLink,
} from './link-store.ts'
import type { Session, Sessions } from './sessions.ts'
import type { SignOnIdentity } from './sign-on-provider.ts'
import { findSignOnIdentities, insertSignOnIdentity } from './sign-on-store.ts'

const LINK_LIFETIME = 15 * MINUTE
const MAX_WRONG_IN_A_DAY = 10
const MAX_CONCURRENT_REQUESTS = 2000
/** Compared with if an address has no code. */
const NO_CODE = hashCode('')

export interface SignInOptions {
  database: ControlDatabase
  clock: Clock
  log: Logger
  limiter: Limiter
  sessions: Sessions
  mailer: Mailer
  /** The URL that links begin with; a request cannot influence it. */
  baseUrl: () => string
  /** Rate limit for mails to one address. */
  mailRate: Rate
  signUp: 'open' | 'invite'
  administrators: ReadonlySet<string>
  starting: StartingGrant
  refusals: Pick<Refusals, 'note'>
}

/** What binds a code to the client that asked for it. */
export interface CodeRequest {
  /** A random value that the client got in the response to its request for a mail. */
  request: string
  /** Whether the code works only together with it. */
  isBound: boolean
}

export interface Entry extends Session {
  user: User
}

/** Passwordless sign-in: a user proves to own an address by reading the mail sent to it, or by single sign-on. */
export class SignIn {
  readonly #options: SignInOptions
  readonly #background: Background

  constructor(options: SignInOptions) {
    this.#options = options
    this.#background = new Background(MAX_CONCURRENT_REQUESTS, options.log)
  }

  /**
   * Returns at once, whatever happens to the mail: neither the response nor its timing reveals whether the
   * address is known, may sign up, or has reached its rate limit.
   */
  request(email: string, { request, isBound }: CodeRequest, next: string | undefined): void {
    if (this.#background.full)
      throw new Problem('overloaded', undefined, { headers: { 'retry-after': '10' }, limit: 'sign-ins' })
    this.#background.run('A sign-in mail could not be made.', () =>
      this.#sendLink(email, { request, isBound }, next),
    )
  }

  async redeemLink(token: string, origin: Origin): Promise<Entry> {
    const { database, clock } = this.#options
    const entry = await database.db.transaction().execute(async (tx) => {
      const email = await useLink(tx, { tokenHash: hashToken(token) }, clock())
      return email === undefined ? null : this.#enter(tx, email, origin, 'link')
    })
    if (!entry) throw this.#failed(origin)
    return entry
  }

  /**
   * Only the code of the newest mail is valid. `request` is the value that the request for the mail returned: if
   * the client sends it, the code has to be of that request; if the request was bound, the client must send it.
   * Counts guesses while the address's links are locked: concurrent guesses count like sequential ones. Every
   * guess that fails runs the same statements and computes the same hashes, whether or not the address has links:
   * if sign-up is by invitation, only those of users have some.
   */
  async redeemCode(email: string, code: string, request: string | undefined, origin: Origin): Promise<Entry> {
    const { database, clock } = this.#options
    const entry = await database.db.transaction().execute(async (tx) => {
      const now = clock()
      const dayAgo = plus(now, -DAY)
      const links = await lockOutstandingLinks(database, tx, email, now)
      const isLocked = (await countWrongCodes(tx, email, dayAgo)) >= MAX_WRONG_IN_A_DAY
      // A guess at a code of another request cannot succeed. It does not count, so that a guesser without
      // the value cannot lock the user out.
      const requestHash = request === undefined ? null : hashToken(request)
      const guessed = isLocked ? [] : links.filter((link) => isOfRequest(link, requestHash))
      const newest = guessed.find((link) => link.wrong_codes < MAX_WRONG_CODES)
      const matches = matchesCode(code, newest?.code_hash ?? NO_CODE)
      if (newest && matches && (await useLink(tx, { id: newest.id }, now)))
        return this.#enter(tx, email, origin, 'code')
      const ids = guessed.map((link) => link.id)
      await addWrongCode(tx, email, ids, now)
      return null
    })
    if (!entry) throw this.#failed(origin, email)
    return entry
  }

  /**
   * For a user whose verified mail address the provider of single sign-on names. The first sign-in links the user to
   * the account there. From then on, another account with the same address is refused, because addresses are given to
   * other people; so is the same account with another address.
   */
  async enterBySignOn(identity: SignOnIdentity & { email: string }, origin: Origin): Promise<Entry> {
    const { database, clock } = this.#options
    const { issuer, subject, email } = identity
    const entry = await database.db.transaction().execute(async (tx) => {
      const entry = await this.#enter(tx, email, origin, 'sign-on')
      if (!entry) throw this.#failed(origin, email, 'sign-on-failed')
      const row = { issuer, subject, user_id: entry.user.id }
      const others = await findSignOnIdentities(tx, row)
      if (others.length === 0) {
        await insertSignOnIdentity(tx, { ...row, created_at: clock().toISOString() })
      } else if (others.some((other) => other.subject !== subject || other.user_id !== entry.user.id)) {
        // Thrown, so that the session and the user that were just created are rolled back.
        throw this.#failed(origin, email, 'sign-on-failed')
      }
      return entry
    })
    return entry
  }

  #failed(
    { address }: Origin,
    email?: string,
    code: 'sign-in-failed' | 'sign-on-failed' = 'sign-in-failed',
  ): Problem {
    this.#options.refusals.note({ action: 'sign-in.failed', address: address ?? 'unknown', email })
    return new Problem(code)
  }

  /** Deletes expired sign-in data, at least a day after its expiry. */
  async tidy(now: Date): Promise<void> {
    const { database } = this.#options
    // Wrong codes count for a day, so they are kept for two.
    await deleteOldLinks(database, plus(now, -2 * DAY - LINK_LIFETIME))
    await deleteRefreshTokensExpiredBefore(database, plus(now, -DAY))
  }

  /** Resolves when all requested mails were written or dropped. */
  async close(): Promise<void> {
    await this.#background.settled()
  }

  async #sendLink(email: string, { request, isBound }: CodeRequest, next: string | undefined): Promise<void> {
    const { database, clock, limiter, mailer, mailRate, baseUrl } = this.#options
    const { allowed } = await limiter.take(`mail:${email}`, mailRate)
    if (!allowed || !(await this.#mayEnter(database.db, email))) return
    const now = clock()
    const token = newToken()
    const code = newCode()
    const row = {
      id: newId('lnk'),
      email,
      token_hash: hashToken(token),
      code_hash: hashCode(code),
      request_hash: hashToken(request),
      bound: isBound ? 1 : 0,
      wrong_codes: 0,
      created_at: now.toISOString(),
      expires_at: plus(now, LINK_LIFETIME).toISOString(),
      used_at: null,
    }
    await database.db.transaction().execute((tx) => insertLink(database, tx, row))
    // In the fragment, because the page to return to may contain the secret of an invitation.
    const fragment = next === undefined ? token : `${token}~${encodeURIComponent(next)}`
    mailer.post(signInMail(email, `${baseUrl()}/sign-in#${fragment}`, code))
  }

  /**
   * Blocked users get no mail. If sign-up is by invitation, only users, invited addresses and administrators do.
   */
  async #mayEnter(db: ControlDatabase['db'], email: string): Promise<boolean> {
    const { signUp, administrators, clock } = this.#options
    const user = await findUserByEmail(db, email)
    if (user) return user.blockedAt === null
    return signUp === 'open' || administrators.has(email) || hasOpenInvitation(db, email, clock())
  }

  async #enter(
    tx: Tx,
    email: string,
    origin: Origin,
    by: 'link' | 'code' | 'sign-on',
  ): Promise<Entry | null> {
    const { database, clock, sessions, signUp, starting } = this.#options
    const now = clock()
    if (!(await this.#mayEnter(tx, email))) return null
    const { user, created } = await findOrCreateUser(tx, email, now)
    // Blocking locks the user's row too, so no session can be started for a user who is blocked meanwhile.
    await lockUser(database, tx, user.id)
    if ((await findUser(tx, user.id))?.blockedAt !== null) return null
    const own = { ...origin, actor: `user:${user.id}` }
    if (created) {
      await recordEvent(tx, now, own, {
        action: 'user.created',
        organizationId: null,
        subject: `user:${user.id}`,
      })
      // An invited user joins the inviting organization and would leave their own behind, without members.
      if (signUp === 'open' && !(await hasOpenInvitation(tx, email, now))) {
        await foundOrganization(tx, now, own, user.id, { name: ownName(email), ...starting })
      }
    }
    await setLastSignIn(tx, user.id, now)
    const session = await sessions.start(tx, user.id)
    await recordEvent(tx, now, own, {
      action: 'session.started',
      organizationId: session.organizationId,
      subject: `user:${user.id}`,
      detail: { by },
    })
    return { user, ...session }
  }
}

/** Hashes are compared, so the time that it takes reveals nothing about the value. */
function isOfRequest({ request_hash, bound }: LinkRow, requestHash: string | null): boolean {
  return requestHash === null ? bound === 0 : request_hash === requestHash
}

/** The initial name of a user's own organization. */
function ownName(email: string): string {
  return `${email.slice(0, email.lastIndexOf('@'))}'s organization`
}
