import { hash } from 'node:crypto'
import { type Manifest, SNAPSHOT_FILES } from '@wayleave/geodata/snapshot'
import { ObjectMissingError, type ObjectStore } from '../../../base/storage/object-store.ts'
import { SNAPSHOTS, snapshotKey, snapshotPrefix } from '../../../data/blobs/object-keys.ts'
import { DamagedSourceError, ObjectCopier, sha256Of } from '../../../data/blobs/stored-files.ts'
import type { BackedUpSnapshot } from '../backup-record.ts'
import {
  type CopiedSnapshot,
  checkedName,
  DamagedSnapshotError,
  requireSameFiles,
  type SnapshotCopies,
  type SnapshotFiles,
  type SnapshotSource,
} from './snapshot-copies.ts'

/** A snapshot in a bucket, as a source of copies. */
export function fromBucket(store: ObjectStore, snapshot: string): SnapshotSource {
  return { store, keyOf: (file) => snapshotKey(snapshot, file) }
}

/** Copies of snapshots in a bucket. A snapshot exists once its manifest does, which is written last. */
export class BucketSnapshots implements SnapshotCopies {
  readonly #store: ObjectStore
  readonly #scratch: string
  /** The sizes of all objects, by key. A listing has 1,000 of them in a response. */
  #sizes: Promise<Map<string, number>> | null = null
  /** The digests of manifests that are known without reading them, by snapshot. */
  readonly #digests = new Map<string, string>()

  /** `scratch` is a local folder with room for the largest file. */
  constructor(store: ObjectStore, scratch: string) {
    this.#store = store
    this.#scratch = scratch
  }

  /** Notes what the record of an earlier backup says, which saves a request for each snapshot. */
  know(snapshots: readonly BackedUpSnapshot[]): void {
    for (const { name, manifestSha256 } of snapshots) this.#digests.set(name, manifestSha256)
  }

  source(name: string): SnapshotSource {
    return fromBucket(this.#store, name)
  }

  async copy(source: SnapshotSource, name: string, files: SnapshotFiles): Promise<CopiedSnapshot> {
    const place = { store: this.#store, isBucket: true }
    const copier = new ObjectCopier({ store: source.store, isBucket: true }, place, this.#scratch)
    const sizes = await this.#list()
    let total = 0
    for (const [file, { bytes, sha256 }] of Object.entries(files)) {
      total += bytes
      const targetKey = snapshotKey(name, checkedName(file))
      // An object appears whole, and only after its bytes were checked: an earlier attempt has copied it.
      if (sizes.get(targetKey) === bytes) continue
      await copier.copy({ key: source.keyOf(file), targetKey, bytes, sha256 }).catch(async (error) => {
        if (!(error instanceof DamagedSourceError)) throw error
        const isMissing = (await source.store.head(source.keyOf(file))) === null
        if (isMissing) throw new DamagedSnapshotError('a file is missing', { cause: error })
        throw new DamagedSnapshotError(`${file} has another checksum or size`)
      })
      sizes.set(targetKey, bytes)
    }
    const manifest = await source.store
      .read(source.keyOf(SNAPSHOT_FILES.manifest))
      .catch((error: unknown) => {
        if (!(error instanceof ObjectMissingError)) throw error
        throw new DamagedSnapshotError('a file is missing', { cause: error })
      })
    requireSameFiles(parseManifest(manifest), files)
    const manifestKey = snapshotKey(name, SNAPSHOT_FILES.manifest)
    await this.#store.write(manifestKey, manifest)
    sizes.set(manifestKey, manifest.length)
    const manifestSha256 = hash('sha256', manifest)
    this.#digests.set(name, manifestSha256)
    return { bytes: total + manifest.length, manifestSha256 }
  }

  async copiedBefore(name: string, files: SnapshotFiles): Promise<CopiedSnapshot | null> {
    const sizes = await this.#list()
    const manifestBytes = sizes.get(snapshotKey(name, SNAPSHOT_FILES.manifest))
    if (manifestBytes === undefined) return null
    let bytes = manifestBytes
    for (const [file, expected] of Object.entries(files)) {
      if (sizes.get(snapshotKey(name, checkedName(file))) !== expected.bytes) return null
      bytes += expected.bytes
    }
    const digest = this.#digests.get(name)
    if (digest !== undefined) return { bytes, manifestSha256: digest }
    const manifest = await this.#readManifestBytes(name)
    try {
      requireSameFiles(manifest && parseManifest(manifest), files)
    } catch (error) {
      if (error instanceof DamagedSnapshotError) return null
      throw error
    }
    return { bytes, manifestSha256: hash('sha256', manifest!) }
  }

  async readManifest(name: string): Promise<Manifest | null> {
    const bytes = await this.#readManifestBytes(name)
    return bytes && (parseManifest(bytes) as Manifest | null)
  }

  async check({ name, manifestSha256 }: BackedUpSnapshot): Promise<string[]> {
    const { location } = this.#store
    const where = location + snapshotPrefix(name)
    const bytes = await this.#readManifestBytes(name)
    const path = where + SNAPSHOT_FILES.manifest
    if (bytes === null) return [`${path} is missing.`]
    if (hash('sha256', bytes) !== manifestSha256) return [`${path} has another checksum.`]
    const sentences: string[] = []
    for (const [file, expected] of Object.entries(parseManifest(bytes)?.files ?? {})) {
      const key = snapshotKey(name, checkedName(file))
      const sha256 = await sha256Of({ store: this.#store, isBucket: true }, key, expected.bytes)
      if (sha256 === null) sentences.push(`${where}${file} is missing or too short.`)
      else if (sha256 !== expected.sha256) sentences.push(`${where}${file} has another checksum.`)
    }
    return sentences
  }

  /** Removes all snapshots that are not named. */
  async prune(named: ReadonlySet<string>): Promise<void> {
    for (const name of await this.#store.listFolders(SNAPSHOTS)) {
      if (!named.has(name)) await this.remove(name)
    }
  }

  async remove(name: string): Promise<void> {
    // The manifest first: if this is interrupted, the rest is not a snapshot, and is removed by the next run.
    await this.#store.delete([snapshotKey(name, SNAPSHOT_FILES.manifest)])
    const keys: string[] = []
    for await (const { key } of this.#store.list(snapshotPrefix(name))) keys.push(key)
    await this.#store.delete(keys)
    this.#digests.delete(name)
    this.#sizes = null
  }

  #list(): Promise<Map<string, number>> {
    this.#sizes ??= this.#listAll()
    return this.#sizes
  }

  async #listAll(): Promise<Map<string, number>> {
    const sizes = new Map<string, number>()
    for await (const { key, bytes } of this.#store.list(SNAPSHOTS)) sizes.set(key, bytes)
    return sizes
  }

  #readManifestBytes(name: string): Promise<Buffer | null> {
    return this.#store.read(snapshotKey(name, SNAPSHOT_FILES.manifest)).catch((error: unknown) => {
      if (error instanceof ObjectMissingError) return null
      throw error
    })
  }
}

function parseManifest(bytes: Buffer): Partial<Manifest> | null {
  try {
    return JSON.parse(bytes.toString('utf8')) as Partial<Manifest>
  } catch {
    return null
  }
}
