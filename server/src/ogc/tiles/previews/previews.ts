import { BoundedCache } from '@wayleave/geodata/base'
import type { Version } from '../../../data/catalog/dataset.ts'
import type { TileArchives } from '../tile-archives.ts'
import type { TileStates } from '../tile-states.ts'
import { drawPreview, type Preview, previewTiles } from './preview.ts'

/** A preview takes up to 60 KB. */
const MAX_CACHED = 300

/** A small map and the tag of the archive that it is drawn from. */
interface DrawnPreview {
  preview: Preview
  tag: string
}

/** The small maps of datasets, drawn from their tiles once for each archive (single-flight, LRU). */
export class Previews {
  readonly #archives: TileArchives
  readonly #cache = new BoundedCache<string, Promise<DrawnPreview | null>>(MAX_CACHED)

  constructor(archives: TileArchives, states: TileStates) {
    this.#archives = archives
    states.onReplacement((snapshot) => {
      if (snapshot === null) this.#cache.clear()
      else this.#cache.delete(snapshot)
    })
  }

  /** Null for a version without tiles, or whose tiles are not built yet. */
  async of(version: Version): Promise<DrawnPreview | null> {
    const { snapshot } = version
    const cached = this.#cache.get(snapshot)
    if (cached) return cached
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
    const { bbox } = version.manifest
    const open = bbox && (await this.#archives.open(version))
    if (!bbox || !open) return null
    const tiles = []
    for (const address of previewTiles(bbox, open.archive.header.maxZoom)) {
      const tile = await this.#archives.read(version, address)
      if (tile?.bytes) tiles.push({ address, bytes: tile.bytes })
    }
    return { preview: await drawPreview(bbox, tiles, !version.hasSample), tag: open.tag }
  }
}
