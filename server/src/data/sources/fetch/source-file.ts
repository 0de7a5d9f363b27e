import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { SourceError } from '@wayleave/geodata/compile'

/** A file that is written sequentially, up to a limit, with its checksum. */
export class SourceFile {
  readonly path: string
  bytes = 0
  readonly #handle: FileHandle
  readonly #maxBytes: number
  readonly #onBytes: ((bytes: number) => void) | undefined
  #hash = createHash('sha256')

  private constructor(
    path: string,
    handle: FileHandle,
    maxBytes: number,
    onBytes: ((bytes: number) => void) | undefined,
  ) {
    this.path = path
    this.#handle = handle
    this.#maxBytes = maxBytes
    this.#onBytes = onBytes
  }

  static async create(
    path: string,
    { maxBytes, onBytes }: { maxBytes: number; onBytes?: ((bytes: number) => void) | undefined },
  ): Promise<SourceFile> {
    const handle = await open(path, 'w')
    // Whatever the umask of the service: the user of the sandbox reads it, otherwise a copy.
    await handle.chmod(0o644)
    return new SourceFile(path, handle, maxBytes, onBytes)
  }

  async write(chunk: Uint8Array | string): Promise<void> {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    if (this.bytes + bytes.length > this.#maxBytes)
      throw new SourceError(
        `The source has more than ${this.#maxBytes} bytes, which WAYLEAVE_MAX_UPLOAD_BYTES allows.`,
      )
    for (let at = 0; at < bytes.length; ) {
      const { bytesWritten } = await this.#handle.write(bytes, at, bytes.length - at, this.bytes + at)
      at += bytesWritten
    }
    this.#hash.update(bytes)
    this.bytes += bytes.length
    this.#onBytes?.(this.bytes)
  }

  /** Discards what was written. */
  async restart(): Promise<void> {
    await this.#handle.truncate(0)
    this.bytes = 0
    this.#hash = createHash('sha256')
  }

  /** Returns the checksum. */
  checksum(): string {
    return this.#hash.digest('hex')
  }

  close(): Promise<void> {
    return this.#handle.close()
  }
}
