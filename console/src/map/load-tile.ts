import type { Dataset } from '@wayleave/client'
import { data } from '../api/data.ts'
import type { LoadedTile } from './feature-tiles.ts'
import { boxOf, type TileName } from './tile.ts'

/**
 * The max number of features of a tile. A view of about thirty tiles then has a few thousand features at
 * most, which any machine draws smoothly.
 */
const A_TILE = 250
/** A dataset with at most this many rows is loaded completely, as one tile that covers the world. */
const SMALL = 2500

export const WORLD: TileName = '0/0/0'

export function isSmall(dataset: Dataset): boolean {
  return dataset.rows <= SMALL
}

export async function loadTile(dataset: Dataset, tile: TileName, signal: AbortSignal): Promise<LoadedTile> {
  const limit = isSmall(dataset) ? SMALL : A_TILE
  // The attributes are loaded too, so that a click shows them at once.
  const page = await data.items(dataset.table, { bbox: boxOf(tile), limit, signal })
  const complete = !page.links.some(({ rel }) => rel === 'next')
  return {
    features: page.features,
    matched: page.numberMatched ?? (complete ? page.features.length : null),
    complete,
  }
}
