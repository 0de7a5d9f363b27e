import { hash } from 'node:crypto'
import { closeSync, openSync, readSync, rmSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { ByteSink } from '../../exports/byte-sink.ts'
import type { Bbox } from '../../geometry/bbox.ts'
import { firstTileId } from '../tile-id.ts'
import { LARGEST_MAX_ZOOM } from '../web-mercator.ts'
import { addEntry, makeEntries, type TileEntries, writeDirectories } from './pmtiles-directory.ts'
import { HEAD_BYTES, HEADER_BYTES, writeHeader } from './pmtiles-header.ts'

/** Larger tiles are hardly ever equal. */
const MAX_SHARED_BYTES = 4096
/** How many contents of a zoom are remembered, so that equal tiles are stored once. */
const MAX_REMEMBERED = 200_000
const COPY_BYTES = 1 << 20

/** What the names of the files of the zooms end with. */
export const ZOOM_SUFFIXES: readonly string[] = Array.from(
  { length: LARGEST_MAX_ZOOM + 1 },
  (_, z) => `.z${z}`,
)

interface Zoom {
  path: string
  sink: ByteSink
  entries: TileEntries
  contents: number
  offsets: Map<string, number>
}

/**
 * Writes a PMTiles 3 archive. The tiles of each zoom have to arrive in ascending order; zooms may be mixed.
 * Each zoom is collected in a file of its own beside the archive, because the archive has them one after the
 * other.
 */
export class PmtilesWriter {
  readonly #path: string
  readonly #zooms: Zoom[] = []

  constructor(path: string) {
    this.#path = path
  }

  /** Adds gzipped bytes as tile `index` of a zoom's Hilbert curve, and as the `run - 1` tiles after it. */
  add(z: number, index: number, bytes: Buffer, run = 1): void {
    const zoom = this.#zoom(z)
    const { entries } = zoom
    const id = firstTileId(z) + index
    const offset = this.#store(zoom, bytes)
    const last = entries.count - 1
    if (last >= 0 && entries.offsets[last] === offset && entries.ids[last]! + entries.runs[last]! === id) {
      entries.runs[last]! += run
    } else addEntry(entries, id, offset, bytes.length, run)
  }

  /** Writes the archive and returns its checksum. */
  finish(metadata: object, bounds: Bbox, maxZoom: number): string | undefined {
    const zooms = this.#zooms.filter((zoom) => zoom !== undefined)
    const all = joinEntries(zooms)
    const { root, leaves } = writeDirectories(all, HEAD_BYTES - HEADER_BYTES)
    const about = gzipSync(JSON.stringify(metadata))
    let tiles = 0
    for (let i = 0; i < all.count; i++) tiles += all.runs[i]!
    const partAt = (offset: number, length: number) => ({ offset, length })
    const metadataAt = HEADER_BYTES + root.length
    const leavesAt = metadataAt + about.length
    const dataAt = leavesAt + leaves.length
    const header = writeHeader({
      root: partAt(HEADER_BYTES, root.length),
      metadata: partAt(metadataAt, about.length),
      leaves: partAt(leavesAt, leaves.length),
      data: partAt(
        dataAt,
        zooms.reduce((sum, { sink }) => sum + sink.length, 0),
      ),
      tiles,
      entries: all.count,
      contents: zooms.reduce((sum, { contents }) => sum + contents, 0),
      minZoom: 0,
      maxZoom,
      bounds,
    })
    const archive = new ByteSink(this.#path)
    try {
      for (const part of [header, root, about, leaves]) archive.write(part)
      for (const { path, sink } of zooms) {
        sink.close()
        copyFile(path, archive)
      }
      return archive.close()
    } finally {
      archive.abandon()
      this.abandon()
    }
  }

  /** Removes the files of the zooms. */
  abandon(): void {
    for (const zoom of this.#zooms) {
      if (zoom === undefined) continue
      zoom.sink.abandon()
      rmSync(zoom.path, { force: true })
    }
  }

  #zoom(z: number): Zoom {
    const existingZoom = this.#zooms[z]
    if (existingZoom) return existingZoom
    const path = this.#path + ZOOM_SUFFIXES[z]
    const sink = new ByteSink(path, { hashed: false })
    const zoom: Zoom = { path, sink, entries: makeEntries(64), contents: 0, offsets: new Map() }
    this.#zooms[z] = zoom
    return zoom
  }

  #store(zoom: Zoom, bytes: Buffer): number {
    const { sink, offsets } = zoom
    const digest = bytes.length <= MAX_SHARED_BYTES ? hash('md5', bytes, 'base64') : null
    const existingOffset = digest === null ? undefined : offsets.get(digest)
    if (existingOffset !== undefined) return existingOffset
    const offset = sink.length
    sink.write(bytes)
    zoom.contents++
    if (digest !== null && offsets.size < MAX_REMEMBERED) offsets.set(digest, offset)
    return offset
  }
}

function joinEntries(zooms: readonly Zoom[]): TileEntries {
  const all = makeEntries(1 + zooms.reduce((sum, { entries }) => sum + entries.count, 0))
  let base = 0
  for (const { entries, sink } of zooms) {
    for (let i = 0; i < entries.count; i++) {
      addEntry(all, entries.ids[i]!, base + entries.offsets[i]!, entries.lengths[i]!, entries.runs[i]!)
    }
    base += sink.length
  }
  return all
}

function copyFile(path: string, target: ByteSink): void {
  const file = openSync(path, 'r')
  try {
    const buffer = Buffer.allocUnsafeSlow(COPY_BYTES)
    for (;;) {
      const count = readSync(file, buffer, 0, buffer.length, null)
      if (count === 0) return
      target.write(buffer.subarray(0, count))
    }
  } finally {
    closeSync(file)
  }
}
