import { lockOrganizations } from '../../../accounts/access/membership-store.ts'
import type { ControlDatabase, Db, Tx } from '../../../base/database/open.ts'
import { Problem } from '../../../base/problem.ts'
import { type OpenUploads, readOpenUploads } from './open-uploads-store.ts'

/** Max uploads of one publisher that arrive, wait or run. */
export const MAX_UPLOADS = 50
/** Max bytes of all files of one publisher, as a multiple of the largest that a file may have. */
const MAX_LARGEST_FILES = 4

export interface UploadQuotaDeps {
  database: ControlDatabase
  maxUploadBytes: number
  /** Inspections that ended after this time may still be published, so their files are kept. */
  keptSince: () => string
}

/** An upload that arrives. */
export interface ArrivingUpload {
  /** Adds the size of a part that has arrived. Returns why the upload ends, if the publisher has too many bytes. */
  take: (bytes: number) => Problem | null
  /** Call it when the upload is a job, or has failed. */
  end: () => void
}

/**
 * Bounds what one publisher may have stored for jobs, so that nobody fills the disk and the queue of all others. The
 * operator is not bounded. Uploads that arrive count from their first byte; those of other processes count as soon as
 * they are jobs, and a job is only inserted within the bounds.
 */
export class UploadQuota {
  readonly #deps: UploadQuotaDeps
  /** What each publisher sends to this process. */
  readonly #arriving = new Map<string, OpenUploads>()

  constructor(deps: UploadQuotaDeps) {
    this.#deps = deps
  }

  get #maxBytes(): number {
    return this.#deps.maxUploadBytes * MAX_LARGEST_FILES
  }

  /** Throws if the publisher has as many uploads or bytes as it may; `ownerId` is null for the operator. */
  async begin(ownerId: string | null): Promise<ArrivingUpload> {
    if (ownerId === null) return { take: () => null, end: () => {} }
    const arriving = this.#arriving.get(ownerId) ?? { count: 0, bytes: 0 }
    this.#arriving.set(ownerId, arriving)
    arriving.count++
    let own = 0
    const end = () => {
      arriving.count--
      arriving.bytes -= own
      if (arriving.count === 0) this.#arriving.delete(ownerId)
    }
    try {
      const stored = await this.#read(this.#deps.database.db, ownerId)
      if (stored.count + arriving.count > MAX_UPLOADS) throw tooMany()
      if (stored.bytes + arriving.bytes >= this.#maxBytes) throw this.#tooLarge()
      const take = (bytes: number) => {
        own += bytes
        arriving.bytes += bytes
        return stored.bytes + arriving.bytes > this.#maxBytes ? this.#tooLarge() : null
      }
      return { take, end }
    } catch (error) {
      end()
      throw error
    }
  }

  /**
   * Throws if the publisher may not have one more job, with a file of so many bytes. Returns how many it has. Other jobs
   * of the publisher are not inserted until the transaction ends.
   */
  async require(tx: Tx, ownerId: string, bytes: number): Promise<number> {
    await lockOrganizations(this.#deps.database, tx, [ownerId])
    const stored = await this.#read(tx, ownerId)
    if (stored.count >= MAX_UPLOADS) throw tooMany()
    if (stored.bytes + bytes > this.#maxBytes) throw this.#tooLarge()
    return stored.count
  }

  #read(db: Db | Tx, ownerId: string): Promise<OpenUploads> {
    const { database, keptSince } = this.#deps
    return readOpenUploads(database, db, { ownerId, keptSince: keptSince() })
  }

  #tooLarge(): Problem {
    return limitReached(
      `The files that a publisher has sent may have ${this.#maxBytes} bytes in all: those of jobs that have not ended, and of inspections within the last hour.`,
    )
  }
}

function tooMany(): Problem {
  return limitReached(`A publisher may have ${MAX_UPLOADS} uploads that wait or run.`)
}

function limitReached(limit: string): Problem {
  return new Problem('upload-limit-reached', `${limit} Wait until a job has ended, or cancel one.`)
}
