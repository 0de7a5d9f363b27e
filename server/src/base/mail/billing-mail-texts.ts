import type { BillingNotice } from '../events/notice-outbox-store.ts'
import type { Mail } from './mail.ts'
import { nameInMail } from './mail-texts.ts'

/** A mail about billing; `holder` is the name of the key, or the address of the member, whose budget it is about. */
export function billingMail(to: string, link: string, notice: BillingNotice, holder = ''): Mail {
  const [subject, ...before] = textsOf(notice, holder)
  return { to, subject: subject!, before, link, label: 'Open the service', after: [] }
}

function textsOf(notice: BillingNotice, holder: string): string[] {
  switch (notice.kind) {
    case 'paid':
      return [
        'Your payment has arrived',
        `The order ${notice.orderId} (${notice.amount}) is paid.${addedCredits(notice)}`,
      ]
    case 'refunded':
      return [
        'Your payment was refunded',
        `Money of the order ${notice.orderId} (${notice.amount}) was returned, and its credits were taken back.`,
      ]
    case 'disputed':
      return [
        'A payment is disputed',
        `The payment of the order ${notice.orderId} (${notice.amount}) is disputed. Its credits are withdrawn until the dispute has ended.`,
      ]
    case 'restored':
      return [
        'A dispute has ended',
        `The order ${notice.orderId} (${notice.amount}) is paid again, and its credits are back.`,
      ]
    case 'cancelled':
      return [
        'Your order was cancelled',
        `The order ${notice.orderId} (${notice.amount}) was cancelled. Nothing is to be paid.`,
      ]
    case 'reminder':
      return [
        'An invoice is not paid yet',
        `The order ${notice.orderId} (${notice.amount}) is not paid yet. Its invoice has the bank details.`,
      ]
    case 'renewal':
      return [
        'Your plan is renewed',
        `The next period of your plan has begun: order ${notice.orderId} (${notice.amount}). Its invoice has the bank details.`,
      ]
    case 'payment-failed':
      return [
        'The payment for your plan has failed',
        `The payment for the next period of your plan has failed. The plan goes on until ${notice.graceUntil.slice(0, 10)} and ends then, unless it is paid. Check how you pay under Plans and credits.`,
      ]
    case 'plan-ended':
      return ['Your plan has ended', 'Your plan has ended. What it included is not available any more.']
    case 'upgraded':
      return [
        'Your plan was upgraded',
        `The larger plan holds now: order ${notice.orderId} (${notice.amount}) for the rest of the period.${addedCredits(notice)}`,
      ]
    case 'key-budget':
      return [
        'The budget of a key is running out',
        `The key "${nameInMail(holder)}" has used ${notice.percent} % of the credits that it may spend in this month.`,
      ]
    case 'member-budget':
      return [
        'The budget of a member is running out',
        `${holder} has used ${notice.percent} % of the credits that they may spend in this month.`,
      ]
    case 'alert':
      return [
        'A payment needs attention',
        `The order ${notice.orderId} (${notice.amount}) is held: ${notice.reason}`,
      ]
  }
}

/** Plans of add-ons alone bring none. */
function addedCredits({ credits }: { credits: number }): string {
  return credits === 0 ? '' : ` It has added ${credits} credits to the balance.`
}
