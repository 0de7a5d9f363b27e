import { hash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { extname } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { version } from '../../base/version.ts'

/** The wheel of the Python client, as pip names it. */
export const WHEEL = `wayleave-${version}-py3-none-any.whl`
/** The npm package of the JavaScript client, as npm names it. */
export const NPM_PACKAGE = `wayleave-client-${version}.tgz`
/** The JavaScript client as one ES module, for pages without a bundler. */
export const MODULE = 'client.js'

const BUILD = new URL('../../../../dist/clients/', import.meta.url)

const MEDIA_TYPES: Record<string, string> = {
  '.whl': 'application/octet-stream',
  '.tgz': 'application/gzip',
  '.js': 'text/javascript; charset=utf-8',
  '.map': 'application/json',
}

export interface ClientFile {
  name: string
  mediaType: string
  bytes: Buffer
  /** Null for files that are compressed already. */
  gzipped: Buffer | null
  sha256: Buffer
}

/** The built packages of the clients, in memory as long as the files do not change. */
export class ClientFiles {
  readonly #folder: URL
  readonly #cache = new Map<string, { changedAt: number; file: Promise<ClientFile> }>()

  constructor(folder: URL = BUILD) {
    this.#folder = folder
  }

  /** Returns undefined if the file is not one of the clients' or they were not built. */
  async read(name: string): Promise<ClientFile | undefined> {
    if (![WHEEL, NPM_PACKAGE, MODULE, `${MODULE}.map`].includes(name)) return undefined
    const path = new URL(name, this.#folder)
    const changedAt = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => undefined,
    )
    if (changedAt === undefined) return undefined
    let cached = this.#cache.get(name)
    if (cached?.changedAt !== changedAt) {
      cached = { changedAt, file: readClientFile(name, path) }
      this.#cache.set(name, cached)
      cached.file.catch(() => this.#cache.delete(name))
    }
    return cached.file
  }
}

async function readClientFile(name: string, path: URL): Promise<ClientFile> {
  const bytes = await readFile(path)
  const extension = extname(name)
  const isCompressed = extension === '.whl' || extension === '.tgz'
  return {
    name,
    mediaType: MEDIA_TYPES[extension]!,
    bytes,
    gzipped: isCompressed ? null : await promisify(gzip)(bytes),
    sha256: hash('sha256', bytes, 'buffer'),
  }
}
