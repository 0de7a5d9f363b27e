import { MAX_ZOOM, type TileAddress } from '@wayleave/geodata/tiles'
import { ROOT } from '../write/links.ts'
import { WEB_MERCATOR_QUAD } from './tile-matrix-set.ts'

const BEFORE_TABLE = `${ROOT}/collections/`
const AFTER_TABLE = `/tiles/${WEB_MERCATOR_QUAD}/`

export const TILE_PATTERN = `${BEFORE_TABLE}:table${AFTER_TABLE}:tileMatrix/:tileRow/:tileCol`

/** The table in a URL of a tile; null for any other URL. */
export function tableInTileUrl(url: string): string | null {
  const end = url.indexOf(AFTER_TABLE, BEFORE_TABLE.length)
  if (end === -1) return null
  const table = url.slice(BEFORE_TABLE.length, end)
  if (table.includes('/') || table.includes('%') || table.includes('?')) return null
  const rest = url.slice(end + AFTER_TABLE.length)
  return /^[^/?%]+\/[^/?%]+\/[^/?%]+(\?|$)/.test(rest) ? table : null
}

/** The tile that a path names; null if there is no such tile in the tile matrix set. */
export function readTileAddress(path: string): TileAddress | null {
  const parts = path.split('/')
  const [z, y, x] = parts.slice(-3).map(wholeNumber)
  if (z === undefined || y === undefined || x === undefined) return null
  if (z === -1 || z > MAX_ZOOM || x === -1 || y === -1) return null
  return x < 2 ** z && y < 2 ** z ? { z, x, y } : null
}

/** -1 for anything but a whole number as it is usually written. */
function wholeNumber(text: string): number {
  return /^(0|[1-9]\d{0,8})$/.test(text) ? Number(text) : -1
}
