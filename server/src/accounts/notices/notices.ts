import { createHmac, timingSafeEqual } from 'node:crypto'
import type { NoticeChange, NoticeSwitches } from '@wayleave/contract/records'
import { NOTICE_MEANINGS, NOTICES, type Notice } from '@wayleave/contract/webhook-events'
import type { Clock } from '../../base/clock.ts'
import type { ControlDatabase } from '../../base/database/open.ts'
import { type MailedUser, recordEvent } from '../../base/events/events.ts'
import type { Unsubscribe } from '../../base/mail/mail.ts'
import { invalidInput, Problem } from '../../base/problem.ts'
import { requireMember } from '../access/membership.ts'
import { findMembership } from '../access/membership-store.ts'
import { readCreditLevel, setCreditLevel } from '../credits/credit-level-store.ts'
import { readSwitchedOff, switchNotice } from './notice-store.ts'

export interface NoticesDeps {
  database: ControlDatabase
  clock: Clock
  baseUrl: () => string
  /** Signs the links by which notices are switched off. */
  secret: string
  /** The operator's mail addresses. */
  operators: readonly string[]
}

/** Which notices an address gets, and the links by which it gets no more. */
export class Notices {
  readonly #deps: NoticesDeps

  constructor(deps: NoticesDeps) {
    this.#deps = deps
  }

  async switchesOf(caller: MailedUser): Promise<NoticeSwitches> {
    const { database, operators } = this.#deps
    const { email } = caller
    const off = await readSwitchedOff(database.db, email)
    const membership = await findMembership(database.db, caller)
    const notices = NOTICES.filter((notice) => notice !== 'access-requested' || operators.includes(email))
    return {
      email,
      data: notices.map((notice) => ({ notice, meaning: NOTICE_MEANINGS[notice], on: !off.has(notice) })),
      creditLimit: membership?.permissions.includes('BILLING_VIEW')
        ? (await readCreditLevel(database.db, membership.organizationId)).lowLimit
        : null,
    }
  }

  async change(caller: MailedUser, { switches = {}, creditLimit }: NoticeChange): Promise<NoticeSwitches> {
    const { database, clock } = this.#deps
    const { email, origin } = caller
    await database.db.transaction().execute(async (tx) => {
      for (const [notice, isOn] of Object.entries(switches)) {
        if (isOn !== undefined) await switchNotice(tx, email, notice as Notice, isOn, clock())
      }
      if (creditLimit === undefined) return
      const membership = await findMembership(tx, caller)
      if (!membership) throw new Problem('conflict', 'The caller belongs to no organization.')
      const { organizationId } = membership
      await requireMember(tx, caller, organizationId, 'BILLING_VIEW')
      await setCreditLevel(tx, organizationId, { low_limit: creditLimit })
      await recordEvent(tx, clock(), origin, {
        action: 'organization.credit-limit-changed',
        organizationId,
        subject: `organization:${organizationId}`,
        detail: { limit: creditLimit },
      })
    })
    return this.switchesOf(caller)
  }

  /** Works without signing in: the token is in a mail to the address. */
  async unsubscribe(token: string): Promise<{ email: string; notice: Notice; meaning: string }> {
    const { database, clock } = this.#deps
    const { email, notice } = this.#read(token)
    await switchNotice(database.db, email, notice, false, clock())
    return { email, notice, meaning: NOTICE_MEANINGS[notice] }
  }

  unsubscribeLinks(email: string, notice: Notice): Unsubscribe {
    const base = this.#deps.baseUrl()
    const text = Buffer.from(`${notice} ${email}`).toString('base64url')
    const token = `${text}.${this.#sign(text).toString('base64url')}`
    // After `#`, so that the token is in no log of a proxy.
    return { page: `${base}/unsubscribe#${token}`, post: `${base}/v1/notices/unsubscribe?token=${token}` }
  }

  #read(token: string): { email: string; notice: Notice } {
    const [text = '', signature = ''] = token.split('.', 2)
    const [given, expected] = [Buffer.from(signature, 'base64url'), this.#sign(text)]
    const isValid = given.length === expected.length && timingSafeEqual(given, expected)
    const [notice = '', email = ''] = Buffer.from(text, 'base64url').toString('utf8').split(' ', 2)
    if (!isValid || !NOTICES.includes(notice as Notice)) throw invalidInput('token', 'is not valid')
    return { email, notice: notice as Notice }
  }

  #sign(text: string): Buffer {
    return createHmac('sha256', this.#deps.secret).update(text).digest()
  }
}
