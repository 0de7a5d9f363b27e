import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import type { WorldFile } from '@wayleave/contract/map-style'

const ASSETS = new URL('../../../../console/dist/assets/', import.meta.url)

/** The files of the background of maps, which the build of the console makes. Each is read and packed once. */
export class WorldFiles {
  readonly #assets: URL
  #names: Promise<readonly string[]> | null = null
  readonly #packed = new Map<WorldFile, Promise<Buffer>>()

  constructor(assets = ASSETS) {
    this.#assets = assets
  }

  /** The name of a file with the hash of its content; null if the console is not built. */
  async nameOf(file: WorldFile): Promise<string | null> {
    this.#names ??= readdir(this.#assets).catch(() => {
      // The console may be built later.
      this.#names = null
      return []
    })
    const pattern = new RegExp(`^world-${file}-[\\w-]+\\.json$`)
    return (await this.#names).find((name) => pattern.test(name)) ?? null
  }

  /** The file, gzipped; null if the console is not built. */
  async packed(file: WorldFile): Promise<Buffer | null> {
    const name = await this.nameOf(file)
    if (name === null) return null
    let packed = this.#packed.get(file)
    if (packed === undefined) {
      packed = readFile(new URL(name, this.#assets)).then((bytes) =>
        promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }),
      )
      packed.catch(() => this.#packed.delete(file))
      this.#packed.set(file, packed)
    }
    return packed
  }
}
