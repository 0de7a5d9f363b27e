import { inflateRawSync } from 'node:zlib'
import { LAND_CELLS } from './land-cells.ts'

let cells: Uint8Array | undefined

/** Whether there is land in the cell of one degree around a place, Antarctica left out. */
export function hasLand(longitude: number, latitude: number): boolean {
  cells ??= inflateRawSync(Buffer.from(LAND_CELLS, 'base64'))
  const column = Math.min(359, Math.floor(longitude + 180))
  const row = Math.min(179, Math.floor(latitude + 90))
  const cell = row * 360 + column
  return (cells[cell >> 3]! & (1 << (cell & 7))) !== 0
}
