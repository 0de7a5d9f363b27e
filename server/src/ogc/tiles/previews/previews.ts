import { createHash } from 'node:crypto'
import { BoundedCache } from '@wayleave/geodata/base'
import type { Version } from '../../../data/catalog/dataset.ts'
import type { OpenSnapshots } from '../../../data/catalog/open-snapshots.ts'
import type { TileArchives } from '../tile-archives.ts'
import type { TileStates } from '../tile-states.ts'
import type { Preview } from './preview.ts'

/** A preview takes up to 60 KB. */
const MAX_CACHED = 300
/** Opening a snapshot reads 25 bytes for each row, and anybody may ask for a preview. */
const MAX_ROWS_WITHOUT_TILES = 1_000_000

/** A small map and the tag of what it is drawn from. */
interface DrawnPreview {
  preview: Preview
  tag: string
  isFromTiles: boolean
}

interface PreviewsDeps {
  tileArchives: TileArchives
  tileStates: TileStates
  snapshots: OpenSnapshots
}

/**
 * The small maps of datasets, drawn once (single-flight, LRU): from their tiles or, until there are any, from the
 * positions of points in the index of the snapshot.
 */
export class Previews {
  readonly #parts: PreviewsDeps
  readonly #cache = new BoundedCache<string, Promise<DrawnPreview | null>>(MAX_CACHED)

  constructor(parts: PreviewsDeps) {
    this.#parts = parts
    parts.tileStates.onReplacement((snapshot) => {
      if (snapshot === null) this.#cache.clear()
      else this.#cache.delete(snapshot)
    })
  }

  /** Null for a table, and for shapes and very many points whose tiles are not built. */
  async of(version: Version): Promise<DrawnPreview | null> {
    const { snapshot } = version
    const cached = this.#cache.get(snapshot)
    if (!cached) return this.#drawOnce(version)
    const drawn = await cached
    if (!drawn || drawn.isFromTiles || !this.#parts.tileStates.wasFound(snapshot)) return drawn
    // The tiles were built since.
    if (this.#cache.get(snapshot) === cached) this.#cache.delete(snapshot)
    return this.of(version)
  }

  #drawOnce(version: Version): Promise<DrawnPreview | null> {
    const { snapshot } = version
    const drawn = this.#draw(version)
    this.#cache.set(snapshot, drawn)
    // Tiles may be there at the next request, and a failed read may succeed.
    const forget = () => {
      if (this.#cache.get(snapshot) === drawn) this.#cache.delete(snapshot)
    }
    drawn.then((one) => one ?? forget(), forget)
    return drawn
  }

  async #draw(version: Version): Promise<DrawnPreview | null> {
    const { tileArchives } = this.#parts
    const { bbox } = version.manifest
    if (!bbox) return null
    const open = await tileArchives.open(version)
    if (!open) return this.#drawPoints(version)
    const { drawPreview, previewTiles } = await import('./preview.ts')
    const tiles = []
    for (const address of previewTiles(bbox, open.archive.header.maxZoom)) {
      const tile = await tileArchives.read(version, address)
      if (tile?.bytes) tiles.push({ address, bytes: tile.bytes })
    }
    const preview = await drawPreview(bbox, tiles, !version.hasSample)
    return { preview, tag: open.tag, isFromTiles: true }
  }

  async #drawPoints(version: Version): Promise<DrawnPreview | null> {
    const { manifest, snapshot, hasSample } = version
    const { bbox, geometryType, rows } = manifest
    if (!bbox || geometryType !== 'Point' || rows > MAX_ROWS_WITHOUT_TILES) return null
    return this.#parts.snapshots.use(version, async (opened) => {
      if (!opened.tree.isPoints) return null
      const { drawPoints } = await import('./preview.ts')
      const preview = await drawPoints(bbox, await opened.readLeaves(), !hasSample)
      return {
        preview,
        tag: createHash('sha256').update(snapshot).digest('hex').slice(0, 16),
        isFromTiles: false,
      }
    })
  }
}
