import { boolean, text, url } from './parsers.ts'
import { setting } from './setting.ts'

/** How mail is sent. */
export const mailSettings = {
  smtpUrl: setting(
    'WAYLEAVE_SMTP_URL',
    null as string | null,
    url('smtp:', 'smtps:'),
    'The mail server (smtp://user:password@host:587). Without it, mails are written to the outbox folder.',
    { secret: true },
  ),
  smtpAllowPlain: setting(
    'WAYLEAVE_SMTP_ALLOW_PLAIN',
    false,
    boolean(),
    'Send mail without TLS if the mail server does not offer STARTTLS. Passwords and sign-in links are then readable on the way. Without it, only a mail server on loopback may do without TLS.',
  ),
  mailFrom: setting(
    'WAYLEAVE_MAIL_FROM',
    'Wayleave <no-reply@localhost>',
    text(),
    'The sender of every mail.',
  ),
  allowOutbox: setting(
    'WAYLEAVE_ALLOW_OUTBOX',
    false,
    boolean(),
    'Start without a mail server even when listening beyond loopback; mails are then written to the outbox folder.',
  ),
} as const
