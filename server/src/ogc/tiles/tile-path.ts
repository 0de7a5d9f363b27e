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
  return hasThreeParts(url, end + AFTER_TABLE.length) ? table : null
}

const SLASH = 0x2f
const PERCENT = 0x25
const QUESTION_MARK = 0x3f
const ZERO = 0x30

/** Whether three parts that are not empty and need no decoding follow, up to the query or the end. */
function hasThreeParts(url: string, start: number): boolean {
  let slashes = 0
  let partStart = start
  let i = start
  for (; i < url.length; i++) {
    const character = url.charCodeAt(i)
    if (character === QUESTION_MARK) break
    if (character === PERCENT) return false
    if (character !== SLASH) continue
    if (i === partStart) return false
    slashes++
    partStart = i + 1
  }
  return slashes === 2 && i > partStart
}

/** The tile that a path names; null if there is no such tile in the tile matrix set. */
export function readTileAddress(path: string): TileAddress | null {
  const second = path.lastIndexOf('/')
  const first = path.lastIndexOf('/', second - 1)
  const zero = path.lastIndexOf('/', first - 1)
  const z = wholeNumber(path, zero + 1, first)
  const y = wholeNumber(path, first + 1, second)
  const x = wholeNumber(path, second + 1, path.length)
  if (z === -1 || z > MAX_ZOOM || x === -1 || y === -1) return null
  return x < 2 ** z && y < 2 ** z ? { z, x, y } : null
}

const MAX_DIGITS = 9

/** -1 for anything but a whole number as it is usually written. */
function wholeNumber(text: string, start: number, end: number): number {
  if (end <= start || end - start > MAX_DIGITS) return -1
  if (text.charCodeAt(start) === ZERO && end - start > 1) return -1
  let number = 0
  for (let i = start; i < end; i++) {
    const digit = text.charCodeAt(i) - ZERO
    if (digit < 0 || digit > 9) return -1
    number = number * 10 + digit
  }
  return number
}
