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

export function invitationMail(to: string, link: string, organization: string, inviter: string): Mail {
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
      'Whoever accepts leaves the organization they are in now.',
      'If you do not know the sender, ignore this mail: nothing happens.',
    ],
  }
}
