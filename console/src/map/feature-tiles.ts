import type { Feature } from '@wayleave/client'
import { ancestorsOf, type TileName } from './tile.ts'

export interface LoadedTile {
  features: Feature[]
  /** How many there are in the tile, where the service could tell. */
  matched: number | null
  /** Whether these are all of them. */
  complete: boolean
}

export interface TileCount {
  tile: TileName
  /** Null where they are too many to be counted quickly. */
  count: number | null
}

export interface View {
  features: Feature[]
  /** Tiles that hold more features than are drawn: how many. */
  counts: TileCount[]
  /** How many there are in view, where that is known. */
  matched: number | null
  complete: boolean
}

/** A view has some dozen tiles: this many hold a long walk over the map. */
const KEPT = 160

/**
 * The features of a dataset by tiles of the map, so that moving back asks for nothing again. A tile with too many
 * is shown by their number: the first of them would all lie in one corner, and say something wrong.
 */
export class FeatureTiles {
  readonly #load: (tile: TileName, signal: AbortSignal) => Promise<LoadedTile>
  readonly #tiles = new Map<TileName, LoadedTile>()

  constructor(load: (tile: TileName, signal: AbortSignal) => Promise<LoadedTile>) {
    this.#load = load
  }

  /** Fills the view; `onPart` is told each time some of it has come. */
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

  /** The tile itself, or one that contains it and holds all there is. */
  #held(name: TileName): TileName | undefined {
    if (this.#tiles.has(name)) return name
    return ancestorsOf(name).find((ancestor) => this.#tiles.get(ancestor)?.complete)
  }

  #view(names: TileName[]): View {
    const held = new Set(names.map((name) => this.#held(name)).filter((name) => name !== undefined))
    // A shape that reaches over several tiles comes with each of them.
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
