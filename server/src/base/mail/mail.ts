import type { SendMailOptions } from 'nodemailer'
import { mailHtml } from './mail-html.ts'

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

/**
 * The plain text and an HTML version of it. Both are sent as 7bit if they are ASCII, so that no
 * transfer encoding breaks the link, which is on a line of its own.
 */
export function mailOptions(unnamed: Mail, look: MailLook): SendMailOptions {
  const mail = named(unnamed, look)
  const { unsubscribe } = mail
  const end = unsubscribe ? ['', STOP, '', unsubscribe.page] : []
  const text = [...mail.before, '', mail.link, '', ...mail.after, ...end, ''].join('\r\n')
  return {
    from: look.from,
    to: mail.to,
    subject: mail.subject,
    headers: {
      'Auto-Submitted': 'auto-generated',
      ...(unsubscribe && {
        'List-Unsubscribe': `<${unsubscribe.post}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      }),
    },
    textEncoding: 'quoted-printable',
    ...(isAscii(text) ? { text: part('text/plain', text) } : { text }),
    html: part('text/html', mailHtml(mail, look, STOP_LABEL)),
  }
}

const STOP = 'To get no more mails of this kind, follow this link:'
const STOP_LABEL = 'Get no more mails of this kind'

/** The complete mail as it would be sent. */
export async function composeMail(mail: Mail, look: MailLook): Promise<Buffer> {
  // Loaded with the first mail, because it takes a tenth of the time of a start.
  const { default: nodemailer } = await import('nodemailer')
  const transport = nodemailer.createTransport({ streamTransport: true, buffer: true, newline: 'windows' })
  const { message } = await transport.sendMail(mailOptions(mail, look))
  return message as Buffer
}

function part(type: string, content: string): { raw: string } {
  return { raw: `Content-Type: ${type}; charset=utf-8\r\nContent-Transfer-Encoding: 7bit\r\n\r\n${content}` }
}

function isAscii(text: string): boolean {
  return /^[\r\n\x20-\x7e]*$/.test(text)
}
