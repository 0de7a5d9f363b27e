import type { Mail } from './mail.ts'

/** ASCII only, so that a sign-in mail is always sent as 7bit. */
export function signInMail(to: string, link: string, code: string): Mail {
  return {
    to,
    subject: 'Sign in to Wayleave',
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
      `${inviter} invites you to the organization "${organization}" on Wayleave.`,
      'Follow this link to accept, signed in with this mail address. It works once, for 7 days:',
    ],
    link,
    label: 'See the invitation',
    after: [
      'If you accept, you leave your current organization.',
      'If you do not know the sender, ignore this mail: nothing happens.',
    ],
  }
}
