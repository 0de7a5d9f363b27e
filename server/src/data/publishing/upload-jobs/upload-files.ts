import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolderDurably } from '@wayleave/geodata/snapshot'
import { isId } from '../../../base/id.ts'
import { tryLock } from '../../../base/locks/file-lock.ts'
import { downloadObject } from '../../../base/storage/download-object.ts'
import { ObjectMissingError, type ObjectStore } from '../../../base/storage/object-store.ts'

const UPLOADS = 'uploads/'
/** The end of the names of folders beside the uploads. */
const STAGES = '.stages'

/**
 * For how long a failed part of an upload is stored again while its request waits, in ms. Each part has this time,
 * so that a large upload can ride out a short failure.
 */
const STORE_PATIENCE = 20_000
/** Max time for a removal that a request waits for, in ms; a sweep removes what stays. */
const REMOVE_PATIENCE = 3_000

export interface StoredUpload {
  jobId: string
  modifiedAt: Date
}

/**
 * The uploads that jobs publish: files in a local folder or, with a bucket, objects, so that every worker can
 * take the job. The local file is then a copy.
 */
export class UploadFiles {
  readonly #folder: string
  readonly #bucket: ObjectStore | null

  constructor(dataDir: string, bucket: ObjectStore | null) {
    this.#folder = join(dataDir, 'uploads')
    this.#bucket = bucket
  }

  /** The path at which an upload is received. */
  async newPath(jobId: string): Promise<string> {
    await makeFolderDurably(this.#folder, 0o700)
    return this.#path(jobId)
  }

  /** Makes a received upload available to all workers. The request of the upload waits for this. */
  async store(jobId: string, bytes: number): Promise<void> {
    if (this.#bucket === null) return
    const key = UPLOADS + jobId
    // Storing an object may take long. Reading finds out in seconds whether the bucket is reachable.
    await this.#bucket.head(key)
    await this.#bucket.write(key, { path: this.#path(jobId), bytes }, { patienceMs: STORE_PATIENCE })
  }

  /** The local path of an upload, which is fetched if it is not here; null if it is missing or not whole. */
  async fetch(jobId: string, bytes: number): Promise<string | null> {
    const path = this.#path(jobId)
    if ((await this.#size(path)) === bytes) return path
    if (this.#bucket === null) return null
    const object = await this.#bucket.head(UPLOADS + jobId)
    if (object?.bytes !== bytes) return null
    await makeFolderDurably(this.#folder, 0o700)
    await downloadObject(this.#bucket, object, path).catch((error: unknown) => {
      if (!(error instanceof ObjectMissingError)) throw error
    })
    return (await this.#size(path)) === bytes ? path : null
  }

  /**
   * A folder for what an attempt to publish the upload leaves to the next one on this machine. Null if another attempt
   * uses it: one that lost its job, and is about to end.
   */
  async keepStages(jobId: string): Promise<{ folder: string; release: () => void } | null> {
    const path = this.#path(jobId) + STAGES
    const folder = join(path, 'stages')
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const release = tryLock(join(path, 'lock'))
    return release && { folder, release }
  }

  async remove(jobId: string): Promise<void> {
    await this.#removeLocal(jobId)
    await this.#bucket?.delete([UPLOADS + jobId])
  }

  /** The same for a request: it waits for the bucket for seconds only. */
  async removeSoon(jobId: string): Promise<void> {
    await this.#removeLocal(jobId)
    const signal = AbortSignal.timeout(REMOVE_PATIENCE)
    await this.#bucket?.delete([UPLOADS + jobId], { patienceMs: REMOVE_PATIENCE, signal })
  }

  /** Also those that are only here or only in the bucket. */
  async list(): Promise<StoredUpload[]> {
    const uploads = new Map<string, StoredUpload>()
    for (const name of await readdir(this.#folder).catch(() => [])) {
      const jobId = name.replace(STAGES, '')
      const file = isId('job', jobId) ? await stat(this.#path(name)).catch(() => null) : null
      if (file) uploads.set(jobId, { jobId, modifiedAt: file.mtime })
    }
    if (this.#bucket) {
      for await (const { key, modifiedAt } of this.#bucket.list(UPLOADS)) {
        const jobId = key.slice(UPLOADS.length)
        if (isId('job', jobId)) uploads.set(jobId, { jobId, modifiedAt })
      }
    }
    return [...uploads.values()]
  }

  async #removeLocal(jobId: string): Promise<void> {
    await rm(this.#path(jobId), { force: true })
    await rm(this.#path(jobId) + STAGES, { recursive: true, force: true })
  }

  async #size(path: string): Promise<number | null> {
    return stat(path).then(
      ({ size }) => size,
      () => null,
    )
  }

  #path(jobId: string): string {
    return join(this.#folder, jobId)
  }
}
