import type { ByteSpan, ReadableFile } from '../../snapshot/snapshot-files.ts'
import { fillFrom, replyToRead } from '../../threads/remote-file.ts'
import type { ReplyToAsk } from './partition-threads.ts'

/** From the process that builds: what one of its threads asks of a file. */
export interface RemoteAsk {
  thread: number
  file: string
  ask: { prefetch: readonly ByteSpan[] } | { number: number; read: ByteSpan }
}

/** To the process that builds: the bytes of a read, or null if they cannot be read. */
export interface RemoteReply {
  number: number
  bytes: Uint8Array | null
}

/** In the process that builds: passes the asks of threads on to the process that reads. */
export class RemoteReads {
  readonly #send: (ask: RemoteAsk) => void
  readonly #waiting = new Map<number, PromiseWithResolvers<Uint8Array>>()
  #last = 0

  constructor(send: (ask: RemoteAsk) => void) {
    this.#send = send
  }

  readonly reply: ReplyToAsk = (thread, { file, ask }) => {
    if ('prefetch' in ask) return this.#send({ thread, file, ask })
    replyToRead(ask, async (bytes, from) => {
      const number = ++this.#last
      const waiting = Promise.withResolvers<Uint8Array>()
      this.#waiting.set(number, waiting)
      this.#send({ thread, file, ask: { number, read: { from, to: from + bytes.length } } })
      bytes.set(await waiting.promise)
      // The thread throws.
    }).catch(() => {})
  }

  receive({ number, bytes }: RemoteReply): void {
    const waiting = this.#waiting.get(number)
    this.#waiting.delete(number)
    if (bytes) waiting?.resolve(bytes)
    else waiting?.reject(new Error('the file could not be read'))
  }
}

/** Opens a file of a snapshot that is read from start to end. */
export type OpenRemote = (name: string) => Promise<ReadableFile>

/** In the process that reads: each thread of the other process has readers of its own, which read ahead. */
export class FileReads {
  /** Why the first read failed. */
  failure: unknown = null
  readonly #open: OpenRemote
  readonly #send: (reply: RemoteReply) => void
  readonly #readers = new Map<string, Promise<ReadableFile>>()

  constructor(open: OpenRemote, send: (reply: RemoteReply) => void) {
    this.#open = open
    this.#send = send
  }

  async receive({ thread, file, ask }: RemoteAsk): Promise<void> {
    let bytes: Uint8Array | null = null
    try {
      const reader = await this.#reader(thread, file)
      if ('prefetch' in ask) return reader.prefetch?.(ask.prefetch)
      const { from, to } = ask.read
      bytes = Buffer.allocUnsafe(to - from)
      await fillFrom(reader, file, bytes, from)
    } catch (error) {
      this.failure ??= error
      bytes = null
    }
    if ('number' in ask) this.#send({ number: ask.number, bytes })
  }

  async close(): Promise<void> {
    const readers = await Promise.allSettled(this.#readers.values())
    for (const reader of readers) if (reader.status === 'fulfilled') await reader.value.close()
  }

  #reader(thread: number, file: string): Promise<ReadableFile> {
    const key = `${thread} ${file}`
    const reader = this.#readers.get(key) ?? this.#open(file)
    this.#readers.set(key, reader)
    return reader
  }
}
