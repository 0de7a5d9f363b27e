/** A mail with one link. */
export interface Mail {
  to: string
  subject: string
  /** Lines of text before the link, and after it. */
  before: string[]
  after: string[]
  link: string
  /** The text of the link's button. */
  label: string
  /** How to switch mails of this kind off, if that is possible. */
  unsubscribe?: Unsubscribe
}

export interface Unsubscribe {
  /** A page with a button: programs that check mails follow links. */
  page: string
  /** Where mail programs unsubscribe by POST (RFC 8058). */
  post: string
}

/** Sends or stores a mail in the background; never throws to its caller. */
export interface Mailer {
  post(mail: Mail): void
  /** Sends or stores a mail now, once, and throws if that fails. */
  deliver(mail: Mail): Promise<void>
  /** Number of mails sent, or written to the outbox, and number of mails that failed permanently. */
  readonly results: { sent: number; failed: number }
  close(): Promise<void>
}

/** What all mails of a service have. */
export interface MailLook {
  from: string
  /** The name of the service. */
  service: string
  /** The color of buttons. */
  accent: string
}

/** Stands for the name of the service in the texts of a mail. */
export const SERVICE = '{service}'

/** The mail with the name of the service. */
export function named(mail: Mail, { service }: MailLook): Mail {
  const name = (text: string) => text.replaceAll(SERVICE, () => service)
  return { ...mail, subject: name(mail.subject), before: mail.before.map(name), after: mail.after.map(name) }
}
