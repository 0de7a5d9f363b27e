import { setImmediate as nextTurn } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { ByteSink } from '../../exports/byte-sink.ts'
import type { Bbox } from '../../geometry/bbox.ts'
import { addContent, noContent, type TileContent } from '../encode/tile-content.ts'
import type { SeenProperties } from '../encode/tile-layer.ts'
import { firstTileId } from '../tile-id.ts'
import { type PartitionPlace, PartitionReader, type PartitionTile } from './partition-file.ts'
import { addEntry, makeEntries, type TileEntries, writeDirectories } from './pmtiles-directory.ts'
import { HEAD_BYTES, HEADER_BYTES, writeHeader } from './pmtiles-header.ts'

/** How many contents of a zoom are remembered, so that equal tiles are stored once. */
const MAX_REMEMBERED = 200_000
const COPY_BYTES = 1 << 20

/** All partitions, in the order in which the tiles of each zoom are ascending. */
export interface FinishedPartitions {
  places: readonly PartitionPlace[]
  /** By partition: the zooms of its tiles, a bit each. */
  zooms: readonly number[]
  /** The number of tiles, where a run of equal ones is one. */
  tiles: number
  /** By zoom. */
  contents: TileContent[]
  seen: SeenProperties
}

/** Sums up what the partitions have. */
export function summarizePartitions(places: readonly PartitionPlace[]): FinishedPartitions {
  const zooms: number[] = []
  const contents: TileContent[] = []
  const seen: SeenProperties = { hasId: false, longIntegers: new Set() }
  let tiles = 0
  for (const place of places) {
    const { directory } = usePartition(place, (partition) => partition)
    let bits = 0
    for (const [z, content] of directory.contents.entries()) {
      if (content === undefined) continue
      bits |= 1 << z
      contents[z] ??= noContent()
      addContent(contents[z], content)
    }
    zooms.push(bits)
    tiles += directory.zooms.length
    seen.hasId ||= directory.seen.hasId
    for (const name of directory.seen.longIntegers) seen.longIntegers.add(name)
  }
  return { places, zooms, tiles, contents, seen }
}

export interface ArchiveAbout {
  metadata: object
  bounds: Bbox
  maxZoom: number
}

/**
 * Writes a PMTiles 3 archive of the tiles of all partitions, and returns its checksum. The directories come before the
 * tiles, so the directories of the partitions are read twice.
 */
export async function writeArchive(
  path: string,
  partitions: FinishedPartitions,
  { metadata, bounds, maxZoom }: ArchiveAbout,
): Promise<string | undefined> {
  const { entries, contents, bytes } = listEntries(partitions, maxZoom)
  const { root, leaves } = writeDirectories(entries, HEAD_BYTES - HEADER_BYTES)
  const about = gzipSync(JSON.stringify(metadata))
  let tiles = 0
  for (let i = 0; i < entries.count; i++) tiles += entries.runs[i]!
  const partAt = (offset: number, length: number) => ({ offset, length })
  const metadataAt = HEADER_BYTES + root.length
  const leavesAt = metadataAt + about.length
  const header = writeHeader({
    root: partAt(HEADER_BYTES, root.length),
    metadata: partAt(metadataAt, about.length),
    leaves: partAt(leavesAt, leaves.length),
    data: partAt(leavesAt + leaves.length, bytes),
    tiles,
    entries: entries.count,
    contents,
    minZoom: 0,
    maxZoom,
    bounds,
  })
  const archive = new ByteSink(path)
  try {
    for (const part of [header, root, about, leaves]) archive.write(part)
    for (let z = 0; z <= maxZoom; z++) await copyTiles(partitions, z, archive)
    return archive.close()
  } finally {
    archive.abandon()
  }
}

/** The entries of all tiles, how many different contents they have, and the bytes of these. */
function listEntries(
  partitions: FinishedPartitions,
  maxZoom: number,
): { entries: TileEntries; contents: number; bytes: number } {
  const entries = makeEntries(1 + partitions.tiles)
  let contents = 0
  let bytes = 0
  for (let z = 0; z <= maxZoom; z++) {
    const first = bytes
    const store = new EqualTiles()
    eachTile(partitions, z, (tile) => {
      const id = firstTileId(z) + tile.index
      const isNew = store.add(tile)
      const offset = first + store.offset
      const last = entries.count - 1
      const follows = last >= 0 && entries.ids[last]! + entries.runs[last]! === id
      if (follows && entries.offsets[last] === offset) entries.runs[last]! += tile.run
      else addEntry(entries, id, offset, tile.to - tile.from, tile.run)
      if (isNew) contents++
    })
    bytes += store.bytes
  }
  return { entries, contents, bytes }
}

/** Decides which tiles of a zoom are stored, and where: equal ones once. */
class EqualTiles {
  /** The bytes of all tiles that are stored. */
  bytes = 0
  /** Where the last tile is. */
  offset = 0
  readonly #offsets = new Map<string, number>()

  /** Returns whether the tile is stored, because none of those before is equal. */
  add({ from, to, digest }: PartitionTile): boolean {
    const existingOffset = digest === null ? undefined : this.#offsets.get(digest)
    this.offset = existingOffset ?? this.bytes
    if (existingOffset !== undefined) return false
    this.bytes += to - from
    if (digest !== null && this.#offsets.size < MAX_REMEMBERED) this.#offsets.set(digest, this.offset)
    return true
  }
}

/** Copies the tiles of a zoom, neighbouring ones at a time. */
async function copyTiles({ places, zooms }: FinishedPartitions, z: number, archive: ByteSink): Promise<void> {
  const store = new EqualTiles()
  for (const [i, place] of places.entries()) {
    if (((zooms[i]! >>> z) & 1) === 0) continue
    usePartition(place, (partition) => {
      let [from, to] = [0, 0]
      for (const tile of partition.tiles(z)) {
        if (!store.add(tile)) continue
        if (tile.from !== to || tile.to - from > COPY_BYTES) {
          archive.write(partition.read(from, to))
          from = tile.from
        }
        to = tile.to
      }
      archive.write(partition.read(from, to))
    })
    // The process has to notice that its parent is gone.
    await nextTurn()
  }
}

function eachTile(
  { places, zooms }: FinishedPartitions,
  z: number,
  visit: (tile: PartitionTile) => void,
): void {
  for (const [i, place] of places.entries()) {
    if (((zooms[i]! >>> z) & 1) === 0) continue
    usePartition(place, (partition) => {
      for (const tile of partition.tiles(z)) visit(tile)
    })
  }
}

function usePartition<T>(place: PartitionPlace, use: (partition: PartitionReader) => T): T {
  const partition = new PartitionReader(place)
  try {
    return use(partition)
  } finally {
    partition.close()
  }
}
