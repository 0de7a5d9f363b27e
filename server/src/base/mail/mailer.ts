import { join } from 'node:path'
import { BoundedCache } from '@wayleave/geodata/base'
import type { Logger } from 'pino'
import type { Clock } from '../clock.ts'
import { isLoopback } from '../loopback.ts'
import { type Config, SettingError } from '../settings/config.ts'
import type { Mail, Mailer } from './mail.ts'
import { OutboxMailer } from './outbox-mailer.ts'
import { SmtpMailer } from './smtp-mailer.ts'

const MAX_SHOWN = 1000

export interface MailerDeps {
  config: Config
  clock: Clock
  log: Logger
  serving: boolean
}

/**
 * Beyond loopback, users would wait for mails that only the operator can read: require an explicit setting.
 */
export function checkMailSettings({ smtpUrl, host, allowOutbox }: Config): void {
  if (smtpUrl || allowOutbox || isLoopback(host)) return
  throw new SettingError(
    `Listening on ${host} without a mail server, nobody could sign in. Set WAYLEAVE_SMTP_URL, or WAYLEAVE_ALLOW_OUTBOX=true to have mails written to the outbox folder.`,
  )
}

/** Sends by SMTP if a mail server is configured, otherwise writes to the outbox folder. */
export function openMailer({ config, clock, log, serving }: MailerDeps): Mailer {
  const { smtpUrl } = config
  const look = { from: config.mailFrom, service: config.title, accent: config.accent }
  if (smtpUrl) return new SmtpMailer({ url: smtpUrl, look, log, allowPlain: config.smtpAllowPlain })
  const folder = join(config.dataDir, 'outbox')
  // In a demo the links are shown; the warning would only distract.
  if (serving && !config.demo) log.warn(`No mail server is set: mails are written to ${folder}.`)
  // In a pipe the link would end up in a log file, so it is only printed to a terminal.
  const print = (text: string) => void (process.stderr.isTTY && process.stderr.write(text))
  return new OutboxMailer({ folder, look, clock, log, print })
}

/** For a demo on loopback: remembers the newest link to each address, so that the console can show it. */
export class DemoMailer implements Mailer {
  readonly #mailer: Mailer
  readonly #links = new BoundedCache<string, string>(MAX_SHOWN)

  constructor(mailer: Mailer) {
    this.#mailer = mailer
  }

  post(mail: Mail): void {
    this.#links.set(mail.to, mail.link)
    this.#mailer.post(mail)
  }

  deliver(mail: Mail): Promise<void> {
    return this.#mailer.deliver(mail)
  }

  get results() {
    return this.#mailer.results
  }

  newestLink(email: string): string | undefined {
    return this.#links.get(email)
  }

  close(): Promise<void> {
    return this.#mailer.close()
  }
}
