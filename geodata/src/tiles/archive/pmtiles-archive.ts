import { open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { readFully } from '../../bytes/read-fully.ts'
import type { ReadableFile } from '../../snapshot/snapshot-files.ts'
import { type TileAddress, tileId } from '../tile-id.ts'
import { findEntry, makeEntries, readDirectory, type TileEntries } from './pmtiles-directory.ts'
import { HEADER_BYTES, type Part, type PmtilesHeader, readHeader } from './pmtiles-header.ts'
import type { TileMetadata } from './tile-metadata.ts'

const inflate = promisify(gunzip)

/** An open archive of tiles. All its directories are in memory, so that a tile is found without reading. */
export class PmtilesArchive {
  readonly header: PmtilesHeader
  readonly metadata: TileMetadata
  readonly entries: TileEntries
  readonly #file: ReadableFile

  constructor(header: PmtilesHeader, metadata: TileMetadata, entries: TileEntries, file: ReadableFile) {
    this.header = header
    this.metadata = metadata
    this.entries = entries
    this.#file = file
  }

  static async open(path: string): Promise<PmtilesArchive> {
    return PmtilesArchive.read(await open(path, 'r'))
  }

  /** Reads the directories of an open file, which belongs to the archive afterwards. */
  static async read(file: ReadableFile): Promise<PmtilesArchive> {
    try {
      const header = readHeader(await readPart(file, { offset: 0, length: HEADER_BYTES }))
      const metadata = JSON.parse(
        (await inflate(await readPart(file, header.metadata))).toString('utf8'),
      ) as TileMetadata
      return new PmtilesArchive(header, metadata, await readEntries(file, header), file)
    } catch (error) {
      await file.close()
      throw error
    }
  }

  /** The number of the entry that holds a tile; -1 if the tile has no features. */
  find(tile: TileAddress): number {
    return findEntry(this.entries, tileId(tile))
  }

  /** The gzipped bytes of an entry's tile. */
  async read(entry: number): Promise<Buffer> {
    const { offsets, lengths } = this.entries
    const offset = this.header.data.offset + offsets[entry]!
    return readPart(this.#file, { offset, length: lengths[entry]! })
  }

  async close(): Promise<void> {
    await this.#file.close()
  }
}

async function readEntries(file: ReadableFile, { root, leaves, entries: count }: PmtilesHeader) {
  const pointers = makeEntries(64)
  readDirectory(await inflate(await readPart(file, root)), pointers)
  if (leaves.length === 0) return pointers
  const all = makeEntries(count + 1)
  for (let i = 0; i < pointers.count; i++) {
    const leaf = { offset: leaves.offset + pointers.offsets[i]!, length: pointers.lengths[i]! }
    readDirectory(await inflate(await readPart(file, leaf)), all)
  }
  return all
}

async function readPart(file: ReadableFile, { offset, length }: Part): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(length)
  if ((await readFully(file, bytes, offset)) < length) throw new Error('the archive of tiles ends too early')
  return bytes
}
