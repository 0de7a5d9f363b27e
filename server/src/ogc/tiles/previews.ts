import { BoundedCache } from '../../caching/bounded-cache.ts'
import type { Version } from '../../catalog/dataset.ts'
import { drawPreview, type Preview, previewTiles } from './preview.ts'
import type { TileArchives } from './tile-archives.ts'

/** A preview takes up to 60 KB. */
const MAX_CACHED = 300

/** The small maps of datasets, drawn from their tiles once for each version (single-flight, LRU). */
export class Previews {
  readonly #archives: TileArchives
  readonly #cache = new BoundedCache<string, Promise<Preview | null>>(MAX_CACHED)

  constructor(archives: TileArchives) {
    this.#archives = archives
  }

  /** Null for a version without tiles, or whose tiles are not built yet. */
  async of(version: Version): Promise<Preview | null> {
    const { snapshot } = version
    const cached = this.#cache.get(snapshot)
    if (cached) return cached
    const drawn = this.#draw(version)
    this.#cache.set(snapshot, drawn)
    // Tiles may be there at the next request, and a failed read may succeed.
    const forget = () => this.#cache.delete(snapshot)
    drawn.then((preview) => preview ?? forget(), forget)
    return drawn
  }

  async #draw(version: Version): Promise<Preview | null> {
    const { bbox } = version.manifest
    const open = bbox && (await this.#archives.open(version))
    if (!bbox || !open) return null
    const tiles = []
    for (const address of previewTiles(bbox, open.archive.header.maxZoom)) {
      const tile = await this.#archives.read(version, address)
      if (tile?.bytes) tiles.push({ address, bytes: tile.bytes })
    }
    return drawPreview(bbox, tiles)
  }
}
