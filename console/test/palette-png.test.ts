import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inflateSync } from 'node:zlib'
import { encodePalette } from './palette-png.ts'

/** Red, green and blue of each pixel of a PNG with a palette and without filters. */
function decoded(png: Buffer, width: number): number[][] {
  const chunks = new Map<string, Buffer>()
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at))
    chunks.set(png.toString('latin1', at + 4, at + 8), png.subarray(at + 8, at + 8 + png.readUInt32BE(at)))
  const palette = chunks.get('PLTE')!
  const pixels = [...inflateSync(chunks.get('IDAT')!)].filter((_, at) => at % (width + 1) > 0)
  return pixels.map((index) => [...palette.subarray(3 * index, 3 * index + 3)])
}

/** A square of pixels whose colors a function of their number gives. */
const square = (side: number, colorOf: (at: number) => number[]) => ({
  width: side,
  height: side,
  data: Uint8Array.from(Array.from({ length: side * side }, (_, at) => [...colorOf(at), 255]).flat()),
})

test('a picture of 256 colors keeps each of them', () => {
  const colorOf = (at: number) => [at % 256, (at * 7) % 256, 255 - (at % 256)]
  const pixels = decoded(encodePalette(square(32, colorOf)), 32)
  assert.deepEqual(
    pixels,
    pixels.map((_, at) => colorOf(at)),
  )
})

test('a picture of a hundred thousand colors has 256 that are near to them', () => {
  const side = 320
  const colorOf = (at: number) => [(at % side) >> 1, Math.floor(at / side) >> 1, (at * 31) % 64]
  const pixels = decoded(encodePalette(square(side, colorOf)), side)
  const distances = pixels.map((pixel, at) => {
    const color = colorOf(at)
    return Math.hypot(...pixel.map((value, channel) => value - color[channel]!))
  })
  const colors = new Set(pixels.map(String))
  assert.equal(colors.size, 256)
  assert.ok(distances.reduce((sum, one) => sum + one, 0) / distances.length < 16)
})
