import type { SendMailOptions } from 'nodemailer'
import { type Mail, type MailLook, named } from './mail.ts'
import { mailHtml } from './mail-html.ts'

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
