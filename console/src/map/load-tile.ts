import type { Dataset } from '@wayleave/client'
import { data } from '../api/data.ts'
import type { LoadedTile } from './feature-tiles.ts'
import { boxOf, type TileName } from './tile.ts'

/** In all, a view of a dozen tiles has some thousands of features at most, which any machine draws smoothly. */
const POINTS_A_TILE = 400
const SHAPES_A_TILE = 200

export async function loadTile(dataset: Dataset, tile: TileName, signal: AbortSignal): Promise<LoadedTile> {
  const limit = dataset.geometryType === 'Point' ? POINTS_A_TILE : SHAPES_A_TILE
  // The attributes come along: a click then shows them at once.
  const page = await data.items(dataset.table, { bbox: boxOf(tile), limit, signal })
  const complete = !page.links.some(({ rel }) => rel === 'next')
  return {
    features: page.features,
    matched: page.numberMatched ?? (complete ? page.features.length : null),
    complete,
  }
}
