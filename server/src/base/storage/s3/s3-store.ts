import { createHash, hash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ByteSpan } from '@wayleave/geodata/snapshot'
import { readFully } from '@wayleave/geodata/snapshot'
import { CircuitBreaker } from '../circuit-breaker.ts'
import {
  type CallOptions,
  type LocalFile,
  type ObjectInfo,
  ObjectMissingError,
  type ObjectStore,
  type SignedAddress,
  StorageUnavailableError,
} from '../object-store.ts'
import { objectUrl, type S3Location } from './s3-address.ts'
import { completeDocument, deleteDocument, parseDeleteFailures, parseListing, text } from './s3-documents.ts'
import { type S3Call, S3Http, type S3Response } from './s3-http.ts'
import { type CredentialSource, S3Signer } from './s3-signer.ts'

/** How long a failed read is repeated, in ms: a request waits for it. */
const READ_PATIENCE = 6_000
/** How long a failed write is repeated, in ms: only a job waits for it. */
const WRITE_PATIENCE = 120_000
/** How long a connection may be silent while a request waits for bytes, in ms. */
const READ_IDLE = 3_000
/** The store may take long to store or to assemble an object. */
const WRITE_IDLE = 60_000
/** The pause before an attempt is repeated grows from the first to the second, in ms. */
const MIN_PAUSE = 50
const MAX_PAUSE = 2_000
/** Files above this size are sent in parts of this size, or of more if there would be too many parts. */
const PART_BYTES = 8 << 20
const MAX_PARTS = 9_000
const CONCURRENT_PARTS = 4
const HASH_STEP = 1 << 20
/** The protocol allows 1000 keys per request. */
const KEYS_PER_DELETE = 1000
/** As many as the first read of a dataset uses at once. */
const WARM_CONNECTIONS = 5

const RETRIED = new Set([408, 429, 500, 502, 503, 504])

export interface S3StoreOptions {
  location: S3Location
  /** The endpoint in addresses that clients use; by default that of the location. */
  publicEndpoint?: URL | null
  credentials: CredentialSource
  /** Where the operator gave the address, for messages: a setting or an option. */
  givenBy?: string
  /** Max keys in one response to a listing; by default the store's own limit. */
  pageKeys?: number
}

type AttemptCall = Omit<S3Call, 'idleMs' | 'signal'>

interface Attempts extends CallOptions {
  idleMs: number
  patienceMs: number
}

/**
 * Objects in an S3-compatible bucket.
 *
 * See docs/decisions/s3-client.md.
 */
export class S3Store implements ObjectStore {
  readonly location: string
  /** For the metrics. */
  readonly counts = { requests: 0, retries: 0, failures: 0, bytesRead: 0, bytesWritten: 0 }
  readonly breaker = new CircuitBreaker()
  readonly #place: S3Location
  readonly #public: S3Location
  readonly #signer: S3Signer
  readonly #http: S3Http

  readonly #givenBy: string
  readonly #pageKeys: number | undefined

  constructor({ location, publicEndpoint, credentials, givenBy, pageKeys }: S3StoreOptions) {
    this.#givenBy = givenBy ?? 'WAYLEAVE_STORAGE_URL'
    this.#pageKeys = pageKeys
    this.#place = location
    this.#public = { ...location, endpoint: publicEndpoint ?? location.endpoint }
    this.#signer = new S3Signer(location.region, credentials)
    this.#http = new S3Http(this.#signer)
    this.location = `s3://${location.bucket}/${location.prefix}`
  }

  async read(key: string, span?: ByteSpan, options: CallOptions = {}): Promise<Buffer> {
    if (span === undefined) return this.#readWhole(key, options)
    const { from, to } = span
    const bytes = Buffer.allocUnsafeSlow(to - from)
    if (bytes.length === 0) return bytes
    let filled = 0
    const call = (): AttemptCall => {
      // After a broken connection only the rest is requested.
      const start = filled
      return {
        method: 'GET',
        url: this.#url(key),
        headers: { range: `bytes=${from + start}-${to - 1}` },
        onBytes: (piece, headers) => {
          // A store that ignores `Range` sends the whole object. (Some send parts with the status 200.)
          const first = Number(/^bytes (\d+)-/.exec(headers['content-range'] ?? '')?.[1] ?? 0)
          if (first !== from + start) throw new Error('another part than was asked for')
          if (filled + piece.length > bytes.length) throw new Error('more bytes than were asked for')
          filled += piece.copy(bytes, filled)
          this.counts.bytesRead += piece.length
        },
      }
    }
    await this.#attempt(key, call, readAttempts(options), ({ headers }) => {
      const size = Number(headers['content-range']?.split('/')[1] ?? Number.NaN)
      if (size < to) throw new ObjectMissingError(key)
      return filled === bytes.length
    })
    return bytes
  }

  async write(key: string, content: Uint8Array | LocalFile, options: CallOptions = {}): Promise<void> {
    if (content instanceof Uint8Array) {
      await this.#put(key, '', content, digestsOf(content), options)
      return
    }
    const handle = await open(content.path)
    try {
      if (content.bytes <= PART_BYTES) {
        const part = await readPart(handle, 0, content.bytes)
        await this.#put(key, '', part.bytes, part, options)
      } else await this.#writeParts(key, handle, content.bytes, options)
    } finally {
      await handle.close()
    }
  }

  async head(key: string, options: CallOptions = {}): Promise<ObjectInfo | null> {
    try {
      const call = (): AttemptCall => ({ method: 'HEAD', url: this.#url(key) })
      const { headers } = await this.#attempt(key, call, readAttempts(options))
      const modifiedAt = new Date(headers['last-modified'] ?? 0)
      return { key, bytes: Number(headers['content-length']), modifiedAt }
    } catch (error) {
      if (error instanceof ObjectMissingError) return null
      throw error
    }
  }

  async *list(prefix: string, options: CallOptions = {}): AsyncGenerator<ObjectInfo> {
    for await (const { objects } of this.#pages(prefix, null, options)) yield* objects
  }

  async listFolders(prefix: string, options: CallOptions = {}): Promise<string[]> {
    const names: string[] = []
    for await (const { prefixes } of this.#pages(prefix, '/', options)) {
      for (const folder of prefixes) names.push(folder.slice(prefix.length, -1))
    }
    return names
  }

  async delete(keys: readonly string[], options: CallOptions = {}): Promise<void> {
    for (let at = 0; at < keys.length; at += KEYS_PER_DELETE) {
      const some = keys.slice(at, at + KEYS_PER_DELETE)
      const body = Buffer.from(deleteDocument(some.map((key) => this.#place.prefix + key)))
      const response = await this.#post('', '?delete=', body, options)
      const [failure] = parseDeleteFailures(response.body.toString('utf8'))
      if (failure) throw new StorageUnavailableError(`${failure.key} was not deleted: ${failure.code}.`)
    }
  }

  async signedAddress(key: string, address: SignedAddress): Promise<string> {
    const url = objectUrl(this.#public, this.#place.prefix + key)
    url.searchParams.set('response-content-type', address.mediaType)
    url.searchParams.set('response-content-disposition', `attachment; filename="${address.filename}"`)
    url.searchParams.set('response-cache-control', 'private, no-cache')
    if (address.encoding) url.searchParams.set('response-content-encoding', address.encoding)
    return this.#signer.signedUrl(url, address.lifetime)
  }

  /** Opens connections in the background, so that the first reads do not wait for them. */
  warmUp(): void {
    // The object exists in every bucket in use. An outage is noticed and reported by the calls that matter.
    for (let i = 0; i < WARM_CONNECTIONS; i++) this.head('installation.json').catch(() => {})
  }

  async close(): Promise<void> {
    this.#http.close()
  }

  /** For small objects whose size is not known. */
  async #readWhole(key: string, options: CallOptions): Promise<Buffer> {
    const call = (): AttemptCall => ({ method: 'GET', url: this.#url(key) })
    const { body } = await this.#attempt(key, call, readAttempts(options))
    this.counts.bytesRead += body.length
    return body
  }

  async *#pages(prefix: string, delimiter: string | null, options: CallOptions) {
    for (let next: string | null = '' as string | null; next !== null; ) {
      const token: string = next
      const call = (): AttemptCall => {
        const url = objectUrl(this.#place, '')
        url.searchParams.set('list-type', '2')
        url.searchParams.set('encoding-type', 'url')
        url.searchParams.set('prefix', this.#place.prefix + prefix)
        if (delimiter) url.searchParams.set('delimiter', delimiter)
        if (this.#pageKeys) url.searchParams.set('max-keys', String(this.#pageKeys))
        if (token) url.searchParams.set('continuation-token', token)
        return { method: 'GET', url }
      }
      const response = await this.#attempt(prefix, call, { ...readAttempts(options), idleMs: WRITE_IDLE })
      const page = parseListing(response.body.toString('utf8'))
      const cut = (key: string) => key.slice(this.#place.prefix.length)
      yield {
        objects: page.objects.map((object) => ({ ...object, key: cut(object.key) })),
        prefixes: page.prefixes.map(cut),
      }
      next = page.next
    }
  }

  async #writeParts(key: string, handle: FileHandle, bytes: number, options: CallOptions): Promise<void> {
    const partBytes = Math.max(PART_BYTES, Math.ceil(bytes / MAX_PARTS))
    const begun = await this.#post(key, '?uploads=', Buffer.alloc(0), options)
    const uploadId = encodeURIComponent(text(begun.body.toString('utf8'), 'UploadId'))
    try {
      const etags: string[] = new Array(Math.ceil(bytes / partBytes))
      let next = 0
      const sendParts = async () => {
        while (next < etags.length) {
          const number = next++
          const from = number * partBytes
          const part = await readPart(handle, from, Math.min(bytes, from + partBytes))
          const query = `?partNumber=${number + 1}&uploadId=${uploadId}`
          const { headers } = await this.#put(key, query, part.bytes, part, options)
          etags[number] = headers.etag ?? ''
        }
      }
      await Promise.all(Array.from({ length: Math.min(CONCURRENT_PARTS, etags.length) }, sendParts))
      const parts = Buffer.from(completeDocument(etags))
      const response = await this.#post(key, `?uploadId=${uploadId}`, parts, options)
      // A store may begin a 200 response before it has assembled the object, and report a failure in the body.
      const document = response.body.toString('utf8')
      if (document.includes('<Error>'))
        throw new StorageUnavailableError(`${key}: ${text(document, 'Code')}.`)
    } catch (error) {
      // Parts that are not assembled would be charged for ever. If this fails, a rule of the bucket has to do it.
      await this.#deleteUpload(key, uploadId).catch(() => {})
      throw error
    }
    const stored = await this.head(key, options)
    if (stored?.bytes !== bytes) throw new StorageUnavailableError(`${key} was stored with another size.`)
  }

  async #deleteUpload(key: string, uploadId: string): Promise<void> {
    const call = (): AttemptCall => ({ method: 'DELETE', url: this.#url(key, `?uploadId=${uploadId}`) })
    await this.#attempt(key, call, { idleMs: READ_IDLE, patienceMs: READ_PATIENCE })
  }

  #put(key: string, query: string, body: Uint8Array, digests: Digests, options: CallOptions) {
    const call = (): AttemptCall => {
      this.counts.bytesWritten += body.length
      return {
        method: 'PUT',
        url: this.#url(key, query),
        // Every store compares this with the bytes that it received.
        headers: { 'content-md5': digests.md5 },
        body,
        bodySha256: digests.sha256,
      }
    }
    return this.#attempt(key, call, writeAttempts(options))
  }

  #post(key: string, query: string, body: Buffer, options: CallOptions): Promise<S3Response> {
    const { md5, sha256 } = digestsOf(body)
    const call = (): AttemptCall => ({
      method: 'POST',
      url: this.#url(key, query),
      headers: body.length > 0 ? { 'content-md5': md5 } : {},
      body,
      bodySha256: sha256,
    })
    return this.#attempt(key, call, writeAttempts(options))
  }

  /**
   * Repeats a call until it succeeds, the time limit is reached, or the error is permanent. `isDone` says whether a
   * successful response is complete.
   */
  async #attempt(
    key: string,
    makeCall: () => AttemptCall,
    { idleMs, patienceMs, signal }: Attempts,
    isDone: (response: S3Response) => boolean = () => true,
  ): Promise<S3Response> {
    const end = performance.now() + patienceMs
    for (let attempt = 0; ; attempt++) {
      let failure: unknown = new Error('the store was not reachable before')
      if (this.breaker.allows()) {
        try {
          this.counts.requests++
          const response = await this.#http.send({ ...makeCall(), idleMs, signal })
          // 416: the object is shorter than the part that was asked for.
          if (response.status === 404 || response.status === 416) {
            this.breaker.succeeded()
            // A response to HEAD has no body, so there a missing bucket looks like a missing object.
            const isBucketMissing = text(response.body.toString('utf8'), 'Code') === 'NoSuchBucket'
            failure = isBucketMissing ? this.#noBucket() : new ObjectMissingError(key)
            throw failure
          }
          if (response.status < 300 && isDone(response)) {
            this.breaker.succeeded()
            return response
          }
          failure = wrongResponse(key, response)
          if (response.status >= 300 && !RETRIED.has(response.status)) throw failure
        } catch (error) {
          if (error instanceof ObjectMissingError || error === failure || signal?.aborted) throw error
          failure = error
        }
        this.breaker.failed()
      }
      const isHurried = patienceMs <= READ_PATIENCE
      if (isHurried && this.breaker.isOpen) {
        this.counts.failures++
        throw new StorageUnavailableError('The store is not reachable.', { cause: failure })
      }
      const pause = Math.min(MAX_PAUSE, MIN_PAUSE * 2 ** attempt) * (0.5 + Math.random() / 2)
      if (performance.now() + pause > end) {
        this.counts.failures++
        throw failure instanceof StorageUnavailableError
          ? failure
          : new StorageUnavailableError(`The store does not respond.`, { cause: failure })
      }
      this.counts.retries++
      await sleep(pause, undefined, { signal })
    }
  }

  #noBucket(): StorageUnavailableError {
    const { bucket, endpoint } = this.#place
    return new StorageUnavailableError(
      `The bucket "${bucket}" does not exist at ${endpoint.origin}. Create it, or correct ${this.#givenBy} (${this.location}).`,
    )
  }

  #url(key: string, query = ''): URL {
    const url = objectUrl(this.#place, key === '' ? '' : this.#place.prefix + key)
    url.search = query
    return url
  }
}

interface Digests {
  md5: string
  sha256: string
}

function digestsOf(bytes: Uint8Array): Digests {
  return { md5: hash('md5', bytes, 'base64'), sha256: hash('sha256', bytes) }
}

/** Reads a part of a file and its digests, in steps that are short enough for the event loop. */
async function readPart(handle: FileHandle, from: number, to: number): Promise<Digests & { bytes: Buffer }> {
  const bytes = Buffer.allocUnsafeSlow(to - from)
  const md5 = createHash('md5')
  const sha256 = createHash('sha256')
  for (let at = 0; at < bytes.length; at += HASH_STEP) {
    const step = bytes.subarray(at, at + HASH_STEP)
    if ((await readFully(handle, step, from + at)) < step.length)
      throw new Error('a file became shorter while it was stored')
    md5.update(step)
    sha256.update(step)
  }
  return { bytes, md5: md5.digest('base64'), sha256: sha256.digest('hex') }
}

function readAttempts({ patienceMs = READ_PATIENCE, signal }: CallOptions): Attempts {
  return { idleMs: READ_IDLE, patienceMs, signal }
}

function writeAttempts({ patienceMs = WRITE_PATIENCE, signal }: CallOptions): Attempts {
  return { idleMs: WRITE_IDLE, patienceMs, signal }
}

/** The body may name a cause, such as AccessDenied; it has no secrets. */
function wrongResponse(key: string, { status, body }: S3Response): StorageUnavailableError {
  const code = text(body.toString('utf8'), 'Code') || 'no reason given'
  return new StorageUnavailableError(
    `The store responded ${status} to a call for ${key || 'a listing'}: ${code}.`,
  )
}
