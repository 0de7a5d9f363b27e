import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes, randomUUID } from 'node:crypto'
import { type Clock, DAY, MINUTE, plus } from '../../base/clock.ts'
import type { Db } from '../../base/database/open.ts'
import type { Attempt } from '../../base/events/attempt-store.ts'
import { Problem } from '../../base/problem.ts'
import {
  deleteIdempotencyKey,
  findIdempotencyKey,
  type IdempotencyRow,
  insertIdempotencyKey,
  releaseIdempotencyKey,
  storeResponse,
  takeOver,
} from './store.ts'

/** How long a key is remembered. */
const LIFE = DAY
/** An attempt that has neither ended nor carried out its request after this time is dead, and may be repeated. */
const LEASE = MINUTE

export interface IdempotentRequest {
  /** Keys of different callers are different keys. */
  actor: string
  key: string
  /** Method, path and body. */
  content: string
}

/** A response as it is sent again. */
export interface StoredResponse {
  status: number
  headers: Record<string, string>
  body: string
}

/**
 * Requests with an Idempotency-Key are carried out once.
 *
 * The first request inserts a row. The transaction of the change itself marks the row (`recordEvent`), so the change
 * and the mark are committed together or not at all; an attempt whose row was taken over fails there and is rolled
 * back. The response is stored afterwards. If the process ends between the two, the request is never repeated, and its
 * response is lost: `idempotency-response-lost` names what was changed.
 */
export class IdempotentRequests {
  readonly #db: Db
  readonly #clock: Clock

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /** Returns an attempt that may carry out the request, or the response of the earlier one. */
  async begin(request: IdempotentRequest): Promise<{ attempt: Attempt } | { response: StoredResponse }> {
    const id = hashOf('id', request.actor, request.key)
    const contentHash = hashOf('content', request.content)
    const now = this.#clock()
    const attempt = { id, token: randomUUID() }
    const lease_until = plus(now, LEASE).toISOString()
    const row = await this.#validRow(id, now)
    if (row === undefined) {
      const fresh = { ...attempt, content_hash: contentHash, lease_until, created_at: now.toISOString() }
      const inserted = await insertIdempotencyKey(this.#db, { ...fresh, carried_out: null, response: null })
      if (inserted) return { attempt }
      throw inProgress()
    }
    if (row.content_hash !== contentHash) throw new Problem('idempotency-mismatch')
    if (row.response !== null) return { response: openResponse(row.response, request) }
    if (row.lease_until > now.toISOString()) throw inProgress()
    if (row.carried_out !== null) throw responseLost(row.carried_out)
    if (await takeOver(this.#db, row, { token: attempt.token, lease_until })) return { attempt }
    throw inProgress()
  }

  /** Keeps the response for repeated requests. */
  async finish(attempt: Attempt, request: IdempotentRequest, response: StoredResponse): Promise<void> {
    await storeResponse(this.#db, attempt, sealResponse(response, request))
  }

  /** After a failure of the service. */
  async fail(attempt: Attempt): Promise<void> {
    await releaseIdempotencyKey(this.#db, attempt)
  }

  async #validRow(id: string, now: Date): Promise<IdempotencyRow | undefined> {
    const row = await findIdempotencyKey(this.#db, id)
    if (row === undefined || row.created_at > plus(now, -LIFE).toISOString()) return row
    await deleteIdempotencyKey(this.#db, row)
    return undefined
  }
}

function inProgress(): Problem {
  return new Problem('idempotency-in-progress', undefined, { headers: { 'retry-after': '1' } })
}

function responseLost(subject: string): Problem {
  return new Problem(
    'idempotency-response-lost',
    `The request was carried out and changed ${subject}, but its response was lost.`,
    { members: { subject } },
  )
}

function hashOf(purpose: string, ...parts: string[]): string {
  return createHash('sha256')
    .update(JSON.stringify([purpose, ...parts]))
    .digest('base64url')
}

/**
 * A response may contain the secret of a new key, which is stored nowhere else. So it is encrypted with the
 * Idempotency-Key, of which only a hash is stored.
 */
const IV_BYTES = 12
const TAG_BYTES = 16

function cipherKey({ actor, key }: IdempotentRequest): Buffer {
  return Buffer.from(hkdfSync('sha256', key, actor, 'wayleave idempotent response', 32))
}

function sealResponse(response: StoredResponse, request: IdempotentRequest): string {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', cipherKey(request), iv)
  const text = JSON.stringify(response)
  return Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString(
    'base64url',
  )
}

function openResponse(sealed: string, request: IdempotentRequest): StoredResponse {
  const bytes = Buffer.from(sealed, 'base64url')
  const cipher = createDecipheriv('aes-256-gcm', cipherKey(request), bytes.subarray(0, IV_BYTES)).setAuthTag(
    bytes.subarray(-TAG_BYTES),
  )
  const text = cipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)).toString('utf8') + cipher.final('utf8')
  return JSON.parse(text) as StoredResponse
}
