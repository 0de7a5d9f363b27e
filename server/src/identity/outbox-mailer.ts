import { randomBytes } from 'node:crypto'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Clock } from '../clock.ts'
import { Background } from './background.ts'
import { composeMail, type Mail, type Mailer } from './mail.ts'

const MOST_AT_ONCE = 1000

export interface OutboxOptions {
  folder: string
  from: string
  clock: Clock
  log: Logger
  /** Shows a line to the person at the terminal; the link in it must not go through the logger. */
  print: (text: string) => void
}

/** Without a mail server, every mail is a file. It appears whole: written under another name, then renamed. */
export class OutboxMailer implements Mailer {
  readonly results = { sent: 0, failed: 0 }
  readonly #options: OutboxOptions
  readonly #background: Background

  constructor(options: OutboxOptions) {
    this.#options = options
    this.#background = new Background(MOST_AT_ONCE, options.log)
  }

  post(mail: Mail): void {
    this.#background.run('A mail could not be written to the outbox.', async () => {
      await this.#write(mail).catch((error: unknown) => {
        this.results.failed++
        throw error
      })
      this.results.sent++
    })
  }

  async close(): Promise<void> {
    await this.#background.settled()
  }

  async #write(mail: Mail): Promise<void> {
    const { folder, from, clock, print } = this.#options
    const message = await composeMail(mail, from)
    const name = `${clock().toISOString().replaceAll(':', '-')}-${randomBytes(6).toString('hex')}.eml`
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const unfinished = join(folder, `.${name}.part`)
    await writeFile(unfinished, message, { mode: 0o600 })
    await rename(unfinished, join(folder, name))
    print(`Mail to ${mail.to}: ${mail.subject}\n\n  ${mail.link}\n\n`)
  }
}
