import { readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { BoundedCache, SingleFlights } from '@wayleave/geodata/base'
import { geojsonParts } from '@wayleave/geodata/exports'
import {
  DamagedSnapshotError,
  type Manifest,
  verifyFilesFast,
  verifyInThread,
  writeDurably,
} from '@wayleave/geodata/snapshot'
import type { Logger } from 'pino'
import { type Clock, DAY } from '../../base/clock.ts'
import type { ThreadLink } from '../../base/threads/thread-link.ts'
import type { Blobs } from '../blobs/blobs.ts'
import type { Version } from './dataset.ts'
import { type FileStamp, stampOf } from './file-stamp.ts'
import type { SnapshotHealth } from './snapshot-health.ts'

/**
 * Stored next to the snapshot's files but not one of them: if it is missing, the snapshot is verified again.
 */
const RECORD = 'verified.json'
/** Disks lose bits without changing a file's times, so files are verified again after this time. */
export const VERIFICATION_AGE = 7 * DAY
/** Files up to this size are hashed on the calling thread, because starting a worker thread takes longer. */
const SMALL_FILE_BYTES = 1 << 22
const MAX_STAMPS = 100_000

interface VerificationDeps {
  blobs: Blobs
  health: SnapshotHealth
  clock: Clock
  log: Logger
  bytesPerSecond: number
  /** The first thread of the process, which verifies for all; undefined in it. */
  first?: Pick<ThreadLink, 'ask'> | undefined
}

/** The result for a snapshot whose bytes were all verified. */
export interface Verified {
  /** The SHA-256 of the GeoJSON download, in base64. */
  geojsonDigest: string
}

interface VerifiedRecord extends Verified {
  verifiedAt: string
  /** The state of each file when it was verified. */
  files: Record<string, FileStamp>
}

/** The stamp under which a file was verified, and when, in milliseconds. */
interface VerifiedStamp {
  stamp: FileStamp
  at: number
}

/**
 * Compares the bytes of snapshots with their checksums: whole snapshots in the background, one at a time and
 * at a bounded rate, and single files before they are used. Both run in worker threads. A result is valid as
 * long as a file's size, times and inode stay the same, for downloads at most for `VERIFICATION_AGE`.
 */
export class Verification {
  readonly #parts: VerificationDeps
  readonly #stopping = new AbortController()
  /** By path: the last verification of a file. */
  readonly #stamps = new BoundedCache<string, VerifiedStamp>(MAX_STAMPS)
  readonly #checks = new SingleFlights<string, void>()
  readonly #snapshots = new BoundedCache<string, { turn: Promise<Verified | null>; at: number }>(MAX_STAMPS)
  #queue: Promise<unknown> = Promise.resolve()

  constructor(parts: VerificationDeps) {
    this.#parts = parts
    parts.health.onReturn(({ snapshot }) => this.#snapshots.delete(snapshot))
  }

  /**
   * Verifies a whole snapshot in the background, once in `VERIFICATION_AGE` and after a repair, unless a stored record
   * shows that it was verified before. Damage is reported to `health`. Resolves to null if the snapshot is damaged or was
   * removed in the meantime, or if the server stops.
   */
  verify(version: Version): Promise<Verified | null> {
    const { snapshot } = version
    const at = this.#parts.clock().getTime()
    const earlier = this.#snapshots.get(snapshot)
    if (earlier && at - earlier.at < VERIFICATION_AGE) return earlier.turn
    const turn = this.#queue.then(() => this.#verify(version))
    this.#queue = turn
    this.#snapshots.set(snapshot, { turn, at })
    return turn
  }

  /**
   * Whether the file was verified under this stamp less than `VERIFICATION_AGE` ago. Otherwise its snapshot is
   * verified in the background, and until then its bytes have to be checked whenever they are used.
   */
  isVerified(path: string, stamp: FileStamp, version: Version): boolean {
    const last = this.#stamps.get(path)
    if (last?.stamp === stamp && this.#parts.clock().getTime() - last.at < VERIFICATION_AGE) return true
    this.verify(version)
    return false
  }

  /**
   * Throws a DamagedSnapshotError if the file does not have the bytes that were published. For a file that
   * was verified before, this costs one `stat`.
   */
  async requireFile(folder: string, manifest: Manifest, name: string): Promise<FileStamp> {
    const path = join(folder, name)
    const { blobs } = this.#parts
    if (!blobs.isLocal) {
      await blobs.files(basename(folder), manifest).fetch([name])
      return this.#stamp(path, name)
    }
    const stamp = await this.#stamp(path, name)
    if (this.#stamps.get(path)?.stamp === stamp) return stamp
    const at = this.#parts.clock().getTime()
    await this.#checks.run(`${path}\n${stamp}`, () => this.#checkFile(folder, manifest, name))
    this.#stamps.set(path, { stamp, at })
    return stamp
  }

  async close(): Promise<void> {
    this.#stopping.abort()
    await this.#queue
    await this.#checks.settled()
  }

  async #checkFile(folder: string, manifest: Manifest, name: string): Promise<void> {
    if ((manifest.files[name]?.bytes ?? 0) <= SMALL_FILE_BYTES) {
      await verifyFilesFast(folder, manifest, [name])
    } else await verifyInThread({ folder, manifest, fast: [name] }, this.#stopping.signal)
  }

  async #verify(version: Version): Promise<Verified | null> {
    const { blobs, health, log, clock } = this.#parts
    const { signal } = this.#stopping
    const { manifest } = version
    // What is fetched from a bucket is verified then; `wayleave storage check` verifies what is in it.
    if (signal.aborted || !blobs.isLocal) return null
    try {
      const folder = await blobs.localFolder(version.snapshot)
      const names = Object.keys(manifest.files)
      const files = await this.#stampsOf(folder, names)
      const record =
        (await this.#recorded(folder, files)) ??
        ((await this.#verifiedByFirst(version)) ? await this.#recorded(folder, files) : null)
      if (record) return this.#keep(folder, record)
      const { head, tail } = geojsonParts(manifest)
      const { bytesPerSecond } = this.#parts
      const { framedPackDigest } = await verifyInThread(
        { folder, manifest, fast: null, bytesPerSecond, packHead: head, packTail: tail },
        signal,
      )
      const verifiedAt = clock().toISOString()
      const result: VerifiedRecord = { verifiedAt, geojsonDigest: framedPackDigest!, files }
      // If the folder is not writable, the snapshot is verified again at the next start.
      await writeDurably(join(folder, RECORD), JSON.stringify(result)).catch((error: unknown) =>
        log.warn({ err: error }, `The verification of "${version.snapshot}" could not be recorded.`),
      )
      return this.#keep(folder, result)
    } catch (error) {
      if (signal.aborted) return null
      if (error === (await health.problemOf(version, error)))
        log.error({ err: error }, `The snapshot "${version.snapshot}" could not be verified.`)
      return null
    }
  }

  /** The stored record, if it is about these files and recent. */
  async #recorded(folder: string, files: Record<string, FileStamp>): Promise<VerifiedRecord | null> {
    const record = await readRecord(folder)
    if (record === null) return null
    const age = this.#parts.clock().getTime() - Date.parse(record.verifiedAt)
    const isRecent = age >= 0 && age < VERIFICATION_AGE
    return isRecent && Object.entries(files).every(([name, stamp]) => record.files[name] === stamp)
      ? record
      : null
  }

  /** If the first thread finds damage, this one verifies too, and finds it as well. */
  async #verifiedByFirst(version: Version): Promise<boolean> {
    const { first } = this.#parts
    return first !== undefined && (await first.ask<Verified | null>('verify', version)) !== null
  }

  #keep(folder: string, { files, geojsonDigest, verifiedAt }: VerifiedRecord): Verified {
    const at = Date.parse(verifiedAt)
    for (const [name, stamp] of Object.entries(files)) this.#stamps.set(join(folder, name), { stamp, at })
    return { geojsonDigest }
  }

  async #stampsOf(folder: string, names: string[]): Promise<Record<string, FileStamp>> {
    const stamps = names.map(async (name) => [name, await this.#stamp(join(folder, name), name)] as const)
    return Object.fromEntries(await Promise.all(stamps))
  }

  async #stamp(path: string, name: string): Promise<FileStamp> {
    return stampOf(
      await stat(path).catch((cause: NodeJS.ErrnoException) => {
        throw cause.code === 'ENOENT'
          ? new DamagedSnapshotError(name, `${name} is missing.`, { cause })
          : cause
      }),
    )
  }
}

async function readRecord(folder: string): Promise<VerifiedRecord | null> {
  try {
    const record = JSON.parse(await readFile(join(folder, RECORD), 'utf8')) as Partial<VerifiedRecord>
    const { verifiedAt, geojsonDigest, files } = record
    const isWhole =
      typeof verifiedAt === 'string' && typeof geojsonDigest === 'string' && typeof files === 'object'
    return isWhole && files !== null ? (record as VerifiedRecord) : null
  } catch {
    // The record is missing or damaged, so the snapshot is verified again.
    return null
  }
}
