import type { Feature } from '@wayleave/client'
import { ancestorsOf, type TileName } from './tile.ts'

export interface LoadedTile {
  features: Feature[]
  /** The number of features in the tile, if the service could count them. */
  matched: number | null
  /** Whether `features` has all features of the tile. */
  complete: boolean
}

export interface TileCount {
  tile: TileName
  /** Null if there are too many to count quickly. */
  count: number | null
}

export interface View {
  features: Feature[]
  /** The feature counts of tiles that have more features than are drawn. */
  counts: TileCount[]
  /** The number of features in the view, if it is known. */
  matched: number | null
  complete: boolean
}

/** The max number of cached tiles. A view has some dozen, so this covers a lot of panning. */
const KEPT = 160

/**
 * Caches the features of a dataset by map tile, so that moving back loads nothing again. For a tile with too
 * many features only the count is shown: the first features of a page could all be in one corner, which would
 * be misleading.
 */
export class FeatureTiles {
  readonly #load: (tile: TileName, signal: AbortSignal) => Promise<LoadedTile>
  readonly #tiles = new Map<TileName, LoadedTile>()

  constructor(load: (tile: TileName, signal: AbortSignal) => Promise<LoadedTile>) {
    this.#load = load
  }

  /** Loads the missing tiles of the view; `onPart` is called each time some of them have arrived. */
  async fill(names: TileName[], signal: AbortSignal, onPart: (view: View) => void): Promise<void> {
    const missing = names.filter((name) => !this.#held(name))
    if (missing.length < names.length || names.length === 0) onPart(this.#view(names))
    await Promise.all(
      missing.map(async (name) => {
        const tile = await this.#load(name, signal)
        this.#tiles.set(name, tile)
        if (!signal.aborted) onPart(this.#view(names))
      }),
    )
    for (const name of this.#tiles.keys()) {
      if (this.#tiles.size <= KEPT) break
      if (!names.includes(name)) this.#tiles.delete(name)
    }
  }

  /** The tile itself if it is cached, or a cached tile that contains it and is complete. */
  #held(name: TileName): TileName | undefined {
    if (this.#tiles.has(name)) return name
    return ancestorsOf(name).find((ancestor) => this.#tiles.get(ancestor)?.complete)
  }

  #view(names: TileName[]): View {
    const held = new Set(names.map((name) => this.#held(name)).filter((name) => name !== undefined))
    // A shape that spans several tiles is part of each of them, so deduplicate by id.
    const features = new Map<string | number, Feature>()
    const counts: TileCount[] = []
    let matched: number | null = 0
    let complete = true
    for (const name of held) {
      const tile = this.#tiles.get(name)!
      if (!tile.complete) counts.push({ tile: name, count: tile.matched })
      else for (const feature of tile.features) features.set(feature.id, feature)
      matched = matched === null || tile.matched === null ? null : matched + tile.matched
      complete &&= tile.complete
    }
    return { features: [...features.values()], counts, matched, complete }
  }
}
