import nodemailer, { type SendMailOptions } from 'nodemailer'

/** A mail whose one purpose is its link. */
export interface Mail {
  to: string
  subject: string
  /** Lines of text before the link, and after it. */
  before: string[]
  after: string[]
  link: string
  /** What the link does, as a button says it. */
  label: string
}

/** Sends or stores a mail later; never fails towards its caller. */
export interface Mailer {
  post(mail: Mail): void
  /** How many mails were sent, or written to the outbox, and how many failed for good. */
  readonly results: { sent: number; failed: number }
  close(): Promise<void>
}

/**
 * The text and a plain HTML form of it. Both go out as 7bit wherever they are ASCII, so that no encoding
 * breaks the link, which stands alone on its line.
 */
export function mailOptions(mail: Mail, from: string): SendMailOptions {
  const text = [...mail.before, '', mail.link, '', ...mail.after, ''].join('\r\n')
  const paragraphs = (lines: string[]) =>
    lines.filter((line) => line !== '').map((line) => `<p>${escapeHtml(line)}</p>`)
  const html = [
    '<!doctype html>',
    '<html><body>',
    ...paragraphs(mail.before),
    '<p><a',
    `href="${escapeHtml(mail.link)}"`,
    `>${escapeHtml(mail.label)}</a></p>`,
    ...paragraphs(mail.after),
    '</body></html>',
    '',
  ].join('\r\n')
  return {
    from,
    to: mail.to,
    subject: mail.subject,
    headers: { 'Auto-Submitted': 'auto-generated' },
    textEncoding: 'quoted-printable',
    ...(isAscii(text) ? { text: part('text/plain', text) } : { text }),
    html: part('text/html', html),
  }
}

/** The whole mail as it would go over the wire. */
export async function composeMail(mail: Mail, from: string): Promise<Buffer> {
  const transport = nodemailer.createTransport({ streamTransport: true, buffer: true, newline: 'windows' })
  const { message } = await transport.sendMail(mailOptions(mail, from))
  return message as Buffer
}

function part(type: string, content: string): { raw: string } {
  return { raw: `Content-Type: ${type}; charset=utf-8\r\nContent-Transfer-Encoding: 7bit\r\n\r\n${content}` }
}

function isAscii(text: string): boolean {
  return /^[\r\n\x20-\x7e]*$/.test(text)
}

/** Everything beyond ASCII becomes a character reference: the HTML form is 7bit whatever it says. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"']|[^\x20-\x7e]/gu, (character) => `&#${character.codePointAt(0)};`)
}
