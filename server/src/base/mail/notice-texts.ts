import type { Mail, Unsubscribe } from './mail.ts'
import { nameInMail } from './mail-texts.ts'

/** Who gets a notice, and how they get no more. */
export interface NoticeAddress {
  to: string
  unsubscribe: Unsubscribe
}

export function keyExpiringMail(
  address: NoticeAddress,
  link: string,
  { name, days, expiresAt }: { name: string; days: number; expiresAt: string },
): Mail {
  const time = days === 1 ? 'a day' : `${days} days`
  return {
    ...address,
    subject: `An API key expires in ${time}`,
    before: [
      `The API key "${nameInMail(name)}" stops working on ${dateOf(expiresAt)} UTC.`,
      'Follow this link to give it a later expiry, or to create another:',
    ],
    link,
    label: 'See the keys',
    after: [],
  }
}

export function lowCreditsMail(
  address: NoticeAddress,
  link: string,
  { organization, balance, limit }: { organization: string; balance: number; limit: number | null },
): Mail {
  const isLow = limit !== null
  return {
    ...address,
    subject: isLow ? 'Your credits are low' : 'Your credits are used up',
    before: [
      isLow
        ? `The organization "${nameInMail(organization)}" has ${balance} credits left, fewer than the limit of ${limit}.`
        : `The organization "${nameInMail(organization)}" has ${balance} credits left, too few for a download.`,
      'Follow this link to see what they were used for, and to ask for more:',
    ],
    link,
    label: 'See the credits',
    after: [],
  }
}

export function datasetVersionMail(
  address: NoticeAddress,
  link: string,
  { title, version }: { title: string; version: number },
): Mail {
  return {
    ...address,
    subject: `New version of ${nameInMail(title)}`,
    before: [
      `Version ${version} of "${nameInMail(title)}", which your organization has bought, is published.`,
      'Follow this link to see it:',
    ],
    link,
    label: 'See the dataset',
    after: ['You get at most one such mail a day for a dataset.'],
  }
}

export function webhookPausedMail(
  address: NoticeAddress,
  link: string,
  { host, reason }: { host: string; reason: string },
): Mail {
  return {
    ...address,
    subject: 'A webhook was paused',
    before: [
      // The host has dots, of which mail programs make links, so it is only named.
      `The webhook to ${nameInMail(host)} gets no more messages. ${reason}`,
      'Follow this link to see what was not delivered, to let the webhook go on and to send it again:',
    ],
    link,
    label: 'See the webhooks',
    after: [],
  }
}

/** Such as `2026-01-31 12:00`. */
function dateOf(time: string): string {
  return time.slice(0, 16).replace('T', ' ')
}
