import { promisify } from 'node:util'
import { constants, gzip, zstdCompress } from 'node:zlib'
import { BoundedCache } from '@wayleave/geodata/base'
import type { MaybePromise } from '../../base/maybe-promise.ts'
import { preferredEncoding } from '../../http/headers.ts'
import { bodyLength, type DataResponse, responseOf, wholeBody } from '../../http/sockets/data-response.ts'

/** See docs/decisions/compressed-pages.md. */
export type PageCoding = 'zstd' | 'gzip'

/** In order of preference if the client accepts both equally. */
const CODINGS: readonly PageCoding[] = ['zstd', 'gzip']
/** Smaller pages fit in a few packets anyway. */
const MIN_BYTES = 16_384
const MAX_CACHED_BYTES = 64 << 20

// The fastest level of each: a page is read once, and a slower level would take longer than it saves.
const zstd = promisify(zstdCompress)
const gzipped = promisify(gzip)
const ZSTD_OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
const GZIP_OPTIONS = { level: 1 }

/** The content coding that a client prefers; null if it prefers none. */
export function pageCoding(header: string | string[] | undefined): PageCoding | null {
  if (header === undefined) return null
  const preferred = preferredEncoding(String(header), CODINGS)
  return preferred === 'identity' ? null : preferred
}

/** The ETag of a compressed page. */
export function codedTag(tag: string, coding: PageCoding): string {
  return `${tag.slice(0, -1)}.${coding}"`
}

/** The coding of compressed responses. */
const codings = new WeakMap<DataResponse, PageCoding>()

/** The content coding of a response; null if it is not compressed. */
export function codingOf(response: DataResponse): PageCoding | null {
  return codings.get(response) ?? null
}

/** The response in the coding, compressed in a thread of libuv's pool, if it is large enough. */
export async function compressed(response: DataResponse, coding: PageCoding | null): Promise<DataResponse> {
  if (coding === null || !isWorthCompressing(response)) return response
  return codedResponse(await compress(response, coding), coding)
}

function isWorthCompressing(response: DataResponse): boolean {
  return bodyLength(response) > MIN_BYTES
}

function codedResponse(bytes: Buffer, coding: PageCoding): DataResponse {
  const response = responseOf(200, bytes)
  codings.set(response, coding)
  return response
}

async function compress(response: DataResponse, coding: PageCoding): Promise<Buffer> {
  const body = wholeBody(response)
  const bytes = await (coding === 'zstd' ? zstd(body, ZSTD_OPTIONS) : gzipped(body, GZIP_OPTIONS))
  // `wholeBody` releases a response that it had to copy.
  if (response.text === '' && response.pieces.length === 0) response.release()
  return bytes
}

/** A page that was made in memory, and the number of its features. */
export interface PageInMemory {
  response: MaybePromise<DataResponse>
  returned: number
}

/**
 * Compressed pages, so that a page whose bytes are in memory is compressed once. A cached page has the time
 * stamp of the request that it was made for.
 */
export class CompressedPages {
  readonly #pages = new BoundedCache<string, CompressedPage>(
    MAX_CACHED_BYTES,
    ({ bytes }, key) => bytes.length + key.length,
  )

  /** `key` covers everything that the page depends on. */
  get(key: string, coding: PageCoding): PageInMemory | null {
    const cached = this.#pages.get(key)
    return cached ? { response: codedResponse(cached.bytes, coding), returned: cached.returned } : null
  }

  /** Compresses a page, if it is large enough, and keeps it. */
  add(key: string, coding: PageCoding, page: { response: DataResponse; returned: number }): PageInMemory {
    if (!isWorthCompressing(page.response)) return page
    const { returned } = page
    const response = compress(page.response, coding).then((bytes) => {
      this.#pages.set(key, { bytes, returned })
      return codedResponse(bytes, coding)
    })
    return { response, returned }
  }
}

interface CompressedPage {
  bytes: Buffer
  /** The number of its features. */
  returned: number
}
