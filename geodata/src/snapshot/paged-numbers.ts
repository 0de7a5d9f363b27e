import { PACK_PART_BYTES, type PackCache } from '../pack/pack-cache.ts'
import type { BlockChecksums } from './block-checksums.ts'
import { CheckedFile } from './checked-file.ts'
import { INTEGERS, IndexNumbers, type NumberArray, type NumberFormat } from './index-numbers.ts'
import type { Manifest } from './manifest.ts'
import type { SnapshotFiles } from './snapshot-files.ts'

interface PagedFile {
  checked: CheckedFile
  cache: PackCache
  /** Tells the file from all others. */
  key: string
}

/** Numbers between two offsets of a file, of which only the parts that are needed are read. */
export function pagedNumbers<A extends NumberArray>(
  { checked, cache, key }: PagedFile,
  [start, end]: readonly [start: number, end: number],
  { bytes, view }: NumberFormat<A>,
  width = 1,
  pinned: (A | undefined)[] = [],
): IndexNumbers<A> {
  const shift = Math.log2(PACK_PART_BYTES / (bytes * width))
  const read = (from: number, to: number) => checked.read(start + from, start + to)
  const cached = cache.admit(end - start, read, `${key} ${start}`)
  return new IndexNumbers<A>({ width, shift }, pinned, cached, view)
}

/** Integers in files of a snapshot. The files are opened when they are first needed, and closed with the snapshot. */
export class StoredIntegers {
  readonly #files: SnapshotFiles
  readonly #manifest: Manifest
  readonly #checksums: BlockChecksums | null
  readonly #cache: PackCache | null
  readonly #opened = new Map<string, Promise<CheckedFile>>()
  readonly #numbers = new Map<string, IndexNumbers<Uint32Array>>()

  constructor(
    files: SnapshotFiles,
    manifest: Manifest,
    checksums: BlockChecksums | null,
    cache: PackCache | null,
  ) {
    this.#files = files
    this.#manifest = manifest
    this.#checksums = checksums
    this.#cache = cache
  }

  /** Whether parts of a file can be read: it has checksums of its blocks, and there is a cache. */
  canRead(name: string): boolean {
    return this.#cache !== null && this.#checksums?.get(name) !== undefined
  }

  /** The integers from `at` on, `count` of them. */
  async open(name: string, at: number, count: number): Promise<IndexNumbers<Uint32Array>> {
    let opening = this.#opened.get(name)
    if (opening === undefined) {
      opening = this.#open(name)
      // A failed attempt is not kept: the next call tries again.
      opening.catch(() => this.#opened.delete(name))
      this.#opened.set(name, opening)
    }
    const checked = await opening
    const key = `${this.#files.folder} ${name}`
    let numbers = this.#numbers.get(`${key} ${at}`)
    if (numbers === undefined) {
      numbers = pagedNumbers({ checked, cache: this.#cache!, key }, [at, at + count * 4], INTEGERS)
      this.#numbers.set(`${key} ${at}`, numbers)
    }
    return numbers
  }

  async close(): Promise<void> {
    for (const numbers of this.#numbers.values()) numbers.close()
    for (const opening of this.#opened.values()) await opening.then((file) => file.close()).catch(() => {})
  }

  async #open(name: string): Promise<CheckedFile> {
    const { bytes } = this.#manifest.files[name]!
    return new CheckedFile(name, await this.#files.open(name), bytes, this.#checksums!.get(name))
  }
}
