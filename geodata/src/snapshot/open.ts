import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { hashId, idCandidates } from './id-table.ts'
import { type IndexParts, readIndex, treeOf } from './index-file.ts'
import type { IndexTree } from './index-tree.ts'
import { type Manifest, readManifest, SNAPSHOT_FILES } from './manifest.ts'
import { FEATURE_HEAD, idEnd } from './pack.ts'

/** How many bytes the separator between two features takes. */
const SEPARATOR_BYTES = 2

export class Snapshot {
  readonly folder: string
  readonly manifest: Manifest
  readonly tree: IndexTree
  /** `offsets[i]` is where feature i starts in the pack; it ends two bytes before `offsets[i + 1]`. */
  readonly offsets: Uint32Array | Float64Array
  readonly #index: IndexParts
  readonly #pack: FileHandle

  constructor(folder: string, manifest: Manifest, index: IndexParts, pack: FileHandle) {
    this.folder = folder
    this.manifest = manifest
    this.#index = index
    this.offsets = index.offsets
    this.tree = treeOf(index)
    this.#pack = pack
  }

  /** The bytes of the features at positions `from` to `to` (excluded), with `,\n` between them. */
  async readPack(from: number, to: number): Promise<Buffer> {
    if (from >= to) return Buffer.alloc(0)
    return this.readBytes(this.offsets[from]!, this.offsets[to]! - SEPARATOR_BYTES)
  }

  /** Bytes of the pack, from one offset to another. */
  async readBytes(from: number, to: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafeSlow(to - from)
    for (let at = 0; at < bytes.length; ) {
      const { bytesRead } = await this.#pack.read(bytes, at, bytes.length - at, from + at)
      if (bytesRead === 0) throw new Error(`${SNAPSHOT_FILES.pack} ends too early`)
      at += bytesRead
    }
    return bytes
  }

  /** The position of the feature with this id (as it stands in a URL), or -1. */
  async findById(id: string): Promise<number> {
    const text = this.manifest.id.type === 'integer' ? id : JSON.stringify(id)
    const wanted = Buffer.from(text, 'utf8')
    const { idStarts, idPositions, offsets } = this.#index
    for (const position of idCandidates(hashId(wanted, 0, wanted.length), idStarts, idPositions)) {
      const start = offsets[position]! + FEATURE_HEAD.length
      // One byte more than the id shows whether it ends there.
      const end = Math.min(start + wanted.length + 1, offsets[position + 1]! - SEPARATOR_BYTES)
      const found = await this.readBytes(start, end)
      if (idEnd(found, 0) === wanted.length && found.subarray(0, wanted.length).equals(wanted))
        return position
    }
    return -1
  }

  async close(): Promise<void> {
    await this.#pack.close()
  }
}

/** Opens a snapshot's folder: the index is read whole, the pack stays on disk. */
export async function openSnapshot(folder: string): Promise<Snapshot> {
  const manifest = await readManifest(folder)
  const index = await readIndex(join(folder, SNAPSHOT_FILES.index))
  const pack = await open(join(folder, SNAPSHOT_FILES.pack))
  return new Snapshot(folder, manifest, index, pack)
}
