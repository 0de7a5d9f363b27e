import { randomBytes } from 'node:crypto'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolderDurably, writeDurably } from '@wayleave/geodata/snapshot'
import type { Logger } from 'pino'
import type { Clock } from '../clock.ts'
import { Background } from '../concurrency/background.ts'
import { type Mail, type Mailer, type MailLook, named } from './mail.ts'
import { composeMail } from './mail-message.ts'

const MAX_CONCURRENT = 1000

export interface OutboxOptions {
  folder: string
  look: MailLook
  clock: Clock
  log: Logger
  /** Prints a line to the terminal; it contains the link, which must not go through the logger. */
  print: (text: string) => void
}

/** Without a mail server, every mail is written to a file, atomically. */
export class OutboxMailer implements Mailer {
  readonly results = { sent: 0, failed: 0 }
  readonly #options: OutboxOptions
  readonly #background: Background

  constructor(options: OutboxOptions) {
    this.#options = options
    this.#background = new Background(MAX_CONCURRENT, options.log)
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

  async deliver(mail: Mail): Promise<void> {
    await this.#write(mail)
    this.results.sent++
  }

  async close(): Promise<void> {
    await this.#background.settled()
  }

  async #write(mail: Mail): Promise<void> {
    const { folder, look, clock, print } = this.#options
    const message = await composeMail(mail, look)
    const name = `${clock().toISOString().replaceAll(':', '-')}-${randomBytes(6).toString('hex')}.eml`
    await makeFolderDurably(folder, 0o700)
    await writeDurably(join(folder, name), message, { mode: 0o600, partial: join(folder, `.${name}.part`) })
    print(
      `\n${'─'.repeat(72)}\nMail to ${mail.to}: ${named(mail, look).subject}\n\n  ${mail.link}\n${'─'.repeat(72)}\n\n`,
    )
  }
}

/**
 * Removes mails that a killed process left half-written: they contain sign-in links. Younger ones may belong
 * to another server that is writing them now.
 */
export async function sweepOutbox(folder: string, minAgeMs: number): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  for (const name of names) {
    if (!name.startsWith('.') || !name.endsWith('.eml.part')) continue
    const path = join(folder, name)
    // Null if it was renamed meanwhile.
    const file = await stat(path).catch(() => null)
    if (file && Date.now() - file.mtimeMs >= minAgeMs) await rm(path, { force: true })
  }
}
