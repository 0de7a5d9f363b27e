import { setTimeout as sleep } from 'node:timers/promises'
import type { Transporter } from 'nodemailer'
import type { Logger } from 'pino'
import { SECOND } from '../clock.ts'
import { Background } from '../concurrency/background.ts'
import { isLoopback } from '../loopback.ts'
import type { Mail, Mailer, MailLook } from './mail.ts'
import { mailOptions } from './mail-message.ts'

const MAX_CONCURRENT = 10_000
const STOP_AFTER = 5 * SECOND

export interface SmtpOptions {
  url: string
  look: MailLook
  log: Logger
  /** Send without TLS if the server does not offer it. */
  allowPlain?: boolean
  /** Delays before each retry, in milliseconds. */
  waits?: readonly number[]
}

/**
 * Whether a connection must be encrypted before a password or a sign-in link is sent. Without this, nodemailer
 * continues in plain text if the server, or an attacker on the way, does not offer STARTTLS.
 */
export function requiresTls(url: string, allowPlain: boolean): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'smtp:' && !allowPlain && !isLoopback(hostname)
}

/**
 * Sends mail by SMTP. A mail that cannot be delivered now is retried a few times; one that the server rejects
 * permanently is not. Failures are logged with the server's codes only: its messages may quote the mail.
 */
export class SmtpMailer implements Mailer {
  readonly results = { sent: 0, failed: 0 }
  readonly #look: MailLook
  readonly #log: Logger
  readonly #waits: readonly number[]
  /** The library is loaded beside the start of the service. */
  readonly #transport: Promise<Transporter>
  readonly #background: Background
  readonly #closing = new AbortController()

  constructor({
    url,
    look,
    log,
    allowPlain = false,
    waits = [SECOND, 5 * SECOND, 30 * SECOND],
  }: SmtpOptions) {
    this.#look = look
    this.#log = log
    this.#waits = waits
    this.#background = new Background(MAX_CONCURRENT, log)
    this.#transport = openTransport(url, requiresTls(url, allowPlain))
  }

  post(mail: Mail): void {
    if (this.#background.full) {
      this.results.failed++
      this.#log.error('Too many mails wait for the mail server; one was discarded.')
      return
    }
    this.#background.run('A mail could not be sent.', () => this.#deliverWithRetries(mail))
  }

  async deliver(mail: Mail): Promise<void> {
    const transport = await this.#transport
    await transport.sendMail(mailOptions(mail, this.#look))
    this.results.sent++
  }

  /** Retries pending mails at once, then closes the connections. */
  async close(): Promise<void> {
    this.#closing.abort()
    const late = new AbortController()
    await Promise.race([
      this.#background.settled(),
      sleep(STOP_AFTER, undefined, { signal: late.signal }).catch(() => {}),
    ])
    late.abort()
    const transport = await this.#transport
    transport.close()
    await this.#background.settled()
  }

  async #deliverWithRetries(mail: Mail): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      const last = attempt >= this.#waits.length || this.#closing.signal.aborted
      try {
        await this.deliver(mail)
        return
      } catch (error) {
        const { code, responseCode } = error as { code?: string; responseCode?: number }
        const refused = responseCode !== undefined && responseCode >= 500
        if (refused || last) {
          this.results.failed++
          this.#log.error(
            { smtp: { code, responseCode, attempt } },
            'A mail could not be sent and was discarded.',
          )
          return
        }
        this.#log.warn(
          { smtp: { code, responseCode, attempt } },
          'A mail could not be sent; it is tried again.',
        )
      }
      await sleep(this.#waits[attempt], undefined, { signal: this.#closing.signal }).catch(() => {})
    }
  }
}

async function openTransport(url: string, requireTLS: boolean): Promise<Transporter> {
  const { default: nodemailer } = await import('nodemailer')
  return nodemailer.createTransport({
    url,
    requireTLS,
    pool: true,
    maxConnections: 3,
    connectionTimeout: 10 * SECOND,
    greetingTimeout: 10 * SECOND,
    socketTimeout: 30 * SECOND,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}
