import { ADD_ON_NAMES } from '@wayleave/contract/add-ons'
import type { AccessRequest } from '@wayleave/contract/records'
import { type Mail, SERVICE } from './mail.ts'

/** ASCII only below the subject, so that a sign-in mail is always sent as 7bit. */
export function signInMail(to: string, link: string, code: string): Mail {
  return {
    to,
    subject: `Sign in to ${SERVICE}`,
    before: ['Follow this link to sign in. It works once, for 15 minutes:'],
    link,
    label: 'Sign in',
    after: [
      'Or type this code where you asked for the link:',
      '',
      code,
      '',
      'If you did not ask for this mail, ignore it: nothing happens.',
    ],
  }
}

/**
 * A name that a user chose, as it may stand in a mail: mail programs turn addresses in it into links, which a
 * spammer would use. Punctuation inside words and characters of markup and addresses become spaces.
 */
export function nameInMail(name: string): string {
  return name
    .replace(/[\p{C}<>@:/\\[\]]|(?<=\S)[.\u3002\uff0e\uff61](?=\S)/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}

export function invitationMail(to: string, link: string, organizationName: string, inviter: string): Mail {
  const organization = nameInMail(organizationName)
  return {
    to,
    subject: `You are invited to ${organization}`,
    before: [
      `${inviter} invites you to the organization "${organization}" on ${SERVICE}.`,
      'Follow this link to accept, signed in with this mail address. It works once, for 7 days:',
    ],
    link,
    label: 'See the invitation',
    after: [
      'You stay a member of organizations that you belong to, and can switch between them.',
      'If you do not know the sender, ignore this mail: nothing happens.',
    ],
  }
}

/** A mail to the operator. */
export function accessRequestMail(to: string, link: string, request: AccessRequest): Mail {
  const organization = nameInMail(request.organizationName)
  return {
    to,
    subject: `${organization} asks for access`,
    before: [
      `${request.requestedBy} asks for ${wishOf(request)} for the organization "${organization}".`,
      ...(request.message === '' ? [] : [`They write: ${nameInMail(request.message)}`]),
      'Follow this link to decide:',
    ],
    link,
    label: 'See the request',
    after: ['You get this mail because you administer the service.'],
  }
}

/** A mail to the member who asked. */
export function accessDecisionMail(to: string, link: string, request: AccessRequest): Mail {
  const organization = nameInMail(request.organizationName)
  return {
    to,
    subject: `Your request for access was ${request.state}`,
    before: [
      `Your request for ${wishOf(request)} for the organization "${organization}" was ${request.state}.`,
      ...(request.note === '' ? [] : [`The operator writes: ${nameInMail(request.note)}`]),
      'Follow this link to go on:',
    ],
    link,
    label: 'Open the service',
    after: [],
  }
}

/** A mail to the publisher of a dataset, sent once until its source can be read again. */
export function sourceFailedMail(to: string, link: string, table: string, problem: string): Mail {
  return {
    to,
    subject: `The source of ${table} could not be published`,
    before: [
      `The dataset "${table}" could not be refreshed from its source:`,
      ...problem.split('\n').map(nameInMail),
      'The version before is served meanwhile, and the source is tried again. Follow this link to the dataset:',
    ],
    link,
    label: 'Open the dataset',
    after: ['You get no further mail about this source until it works again.'],
  }
}

/** For the operator, to see whether mails arrive. */
export function testMail(to: string, link: string): Mail {
  return {
    to,
    subject: `${SERVICE} can send mail`,
    before: ['This mail shows that the service can send mail. An administrator asked for it.'],
    link,
    label: 'Open the service',
    after: ['Check that it is not in the folder for spam.'],
  }
}

function wishOf({ addOns, credits }: AccessRequest): string {
  const wishes = addOns.map((addOn) => `"${ADD_ON_NAMES[addOn]}"`)
  if (credits > 0) wishes.push(`${credits} credits`)
  return wishes.join(', ')
}
