import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Entry, openPromise, type ZipFile } from 'yauzl'
import { SourceError } from '../../source-error.ts'
import { type ByteSource, DecompressionBound } from '../reading/byte-source.ts'
import { megabytes, type SourceLimits } from '../reading/source-limits.ts'

const MAX_ENTRIES = 10_000
/** The max size of the small text files of a shapefile. */
const MAX_TEXT_BYTES = 1 << 16

/** A zip file whose entries can be read concurrently. */
export class ZipArchive {
  readonly file: string
  /** Only files, without links and those that operating systems add. */
  readonly names: string[]
  readonly #zip: ZipFile
  readonly #entries: Map<string, Entry>
  readonly #limits: SourceLimits

  private constructor(zip: ZipFile, entries: Map<string, Entry>, file: string, limits: SourceLimits) {
    this.file = file
    this.names = [...entries.keys()]
    this.#zip = zip
    this.#entries = entries
    this.#limits = limits
  }

  static async open(path: string, file: string, limits: SourceLimits): Promise<ZipArchive> {
    const entries = new Map<string, Entry>()
    let zip: ZipFile
    try {
      zip = await openPromise(path, { lazyEntries: true, autoClose: false })
    } catch {
      throw new SourceError(`${file} is not a whole zip file: its table of contents is missing or damaged.`)
    }
    try {
      for await (const entry of zip.eachEntry()) {
        const { fileName } = entry
        if (fileName.endsWith('/') || /(^|\/)(__MACOSX\/|\.)/.test(fileName) || isLink(entry)) continue
        entries.set(fileName, entry)
        if (entries.size > MAX_ENTRIES)
          throw new SourceError(`${file} has more than ${MAX_ENTRIES} files in it.`)
      }
    } catch (error) {
      zip.close()
      throw error instanceof SourceError
        ? error
        : new SourceError(`${file} is damaged: ${(error as Error).message}.`)
    }
    return new ZipArchive(zip, entries, file, limits)
  }

  close(): void {
    this.#zip.close()
  }

  source(name: string): ByteSource {
    const entry = this.#entries.get(name)!
    this.#refuseBomb(entry)
    return { file: `${this.file}/${name}`, bytes: this.#bytes(entry), totalBytes: entry.uncompressedSize }
  }

  async text(name: string): Promise<string> {
    const pieces: Uint8Array[] = []
    let length = 0
    for await (const piece of this.source(name).bytes) {
      pieces.push(piece)
      length += piece.length
      if (length > MAX_TEXT_BYTES)
        throw new SourceError(`${this.file}/${name} is too large to be what its name says.`)
    }
    return Buffer.concat(pieces).toString('latin1')
  }

  /**
   * Extracts entries into a folder. Returns the path of an entry, or of a folder of entries, by its name in the
   * archive. Only the last two parts of a name are used, so that no entry can be written elsewhere.
   */
  async extract(names: string[], folder: string): Promise<(name: string) => string> {
    const pathOf = (name: string) => {
      const parts = name.split('/').filter((part) => part !== '' && part !== '.' && part !== '..')
      return join(folder, ...parts.slice(-2))
    }
    await this.#extractTo(names.map((name) => ({ name, path: pathOf(name) })))
    return (name) => (this.#entries.has(name) ? pathOf(name) : dirname(pathOf(`${name}/file`)))
  }

  /** Extracts entries that do not refer to each other under names of their own. Returns their paths. */
  async extractNumbered(names: string[], folder: string): Promise<string[]> {
    const paths = names.map((_, i) => join(folder, String(i)))
    await this.#extractTo(names.map((name, i) => ({ name, path: paths[i]! })))
    return paths
  }

  async #extractTo(targets: { name: string; path: string }[]): Promise<void> {
    let bytes = 0
    for (const { name, path } of targets) {
      bytes += this.#entries.get(name)!.uncompressedSize
      if (bytes > this.#limits.decompressedBytes)
        throw new SourceError(
          `${this.file} decompresses to more than ${megabytes(this.#limits.decompressedBytes)}.`,
        )
      await mkdir(dirname(path), { recursive: true })
      await pipeline(this.source(name).bytes, createWriteStream(path))
    }
  }

  /** Rejects a decompression bomb by the sizes in the central directory, before anything is read. */
  #refuseBomb(entry: Entry): void {
    const { decompressedBytes, compressionRatio, ratioFreeBytes } = this.#limits
    const { uncompressedSize, compressedSize, fileName } = entry
    if (entry.isEncrypted()) throw new SourceError(`${this.file}/${fileName} is encrypted.`)
    if (uncompressedSize > decompressedBytes)
      throw new SourceError(
        `${this.file}/${fileName} decompresses to more than ${megabytes(decompressedBytes)}.`,
      )
    if (uncompressedSize > ratioFreeBytes && uncompressedSize > compressedSize * compressionRatio)
      throw new SourceError(
        `${this.file}/${fileName} decompresses to more than ${compressionRatio} times its size, the limit of WAYLEAVE_MAX_EXPANSION: it is refused as a decompression bomb.`,
      )
  }

  async *#bytes(entry: Entry): AsyncGenerator<Uint8Array> {
    const name = `${this.file}/${entry.fileName}`
    const bound = new DecompressionBound(name, this.#limits)
    try {
      const stream = await this.#zip.openReadStreamPromise(entry)
      for await (const piece of stream) {
        bound.add(piece.length, entry.compressedSize)
        yield piece
      }
    } catch (error) {
      if (error instanceof SourceError) throw error
      throw new SourceError(
        `${name} cannot be decompressed after ${bound.bytes} bytes of content: it is damaged.`,
      )
    }
  }
}

/** Whether the entry is a symbolic link, whose content is a path and no data. */
function isLink({ externalFileAttributes }: Entry): boolean {
  return ((externalFileAttributes >>> 16) & 0o170000) === 0o120000
}
