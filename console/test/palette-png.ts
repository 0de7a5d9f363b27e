import { crc32, deflateSync } from 'node:zlib'
import type { Page } from 'playwright-core'

const MAX_COLORS = 256

/** The colors of a picture's pixels, counted, and its pixels as numbers of red, green and blue. */
interface Pixels {
  width: number
  height: number
  colors: number[]
}

/** A PNG with a palette of 256 colors: a third of the bytes of a screenshot, and to the eye the same. */
export async function palettePng(page: Page, screenshot: Buffer): Promise<Buffer> {
  const { width, height, colors } = await pixelsOf(page, screenshot)
  const counts = new Map<number, number>()
  for (const color of colors) counts.set(color, (counts.get(color) ?? 0) + 1)
  const palette = paletteOf(counts)
  const nearest = new Map<number, number>()
  for (const color of counts.keys()) nearest.set(color, nearestIn(palette, color))
  const lines = Buffer.alloc((width + 1) * height)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) lines[y * (width + 1) + x + 1] = nearest.get(colors[y * width + x]!)!
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  // 8 bits for each pixel, as the number of a color in the palette.
  head.set([8, 3, 0, 0, 0], 8)
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', head),
    chunk('PLTE', Buffer.from(palette.flatMap(channels))),
    chunk('IDAT', deflateSync(lines, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** The browser that took the picture decodes it. */
function pixelsOf(page: Page, screenshot: Buffer): Promise<Pixels> {
  return page.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
    const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }))
    const { width, height } = bitmap
    const context = new OffscreenCanvas(width, height).getContext('2d')!
    context.drawImage(bitmap, 0, 0)
    const { data } = context.getImageData(0, 0, width, height)
    const colors: number[] = []
    for (let at = 0; at < data.length; at += 4)
      colors.push((data[at]! << 16) | (data[at + 1]! << 8) | data[at + 2]!)
    return { width, height, colors }
  }, screenshot.toString('base64'))
}

/** Median cut: the group of colors that spreads most is halved until there are as many as the palette takes. */
function paletteOf(counts: ReadonlyMap<number, number>): number[] {
  const groups = [[...counts.keys()]]
  while (groups.length < MAX_COLORS) {
    const spreads = groups.map((group) => spreadOf(group, counts))
    const at = spreads.reduce(
      (best, spread, index) => (spread.weight > spreads[best]!.weight ? index : best),
      0,
    )
    if (spreads[at]!.weight === 0) break
    const { channel } = spreads[at]!
    const sorted = groups[at]!.toSorted((a, b) => channels(a)[channel]! - channels(b)[channel]!)
    groups.splice(at, 1, ...halves(sorted, counts))
  }
  return groups.map((group) => meanOf(group, counts))
}

function spreadOf(group: number[], counts: ReadonlyMap<number, number>): { channel: number; weight: number } {
  const ranges = [0, 1, 2].map((channel) => {
    const values = group.map((color) => channels(color)[channel]!)
    return values.reduce((a, b) => Math.max(a, b), 0) - values.reduce((a, b) => Math.min(a, b), 255)
  })
  const range = Math.max(...ranges)
  const rows = group.reduce((sum, color) => sum + counts.get(color)!, 0)
  return { channel: ranges.indexOf(range), weight: range * Math.sqrt(rows) }
}

function halves(sorted: number[], counts: ReadonlyMap<number, number>): number[][] {
  const half = sorted.reduce((sum, color) => sum + counts.get(color)!, 0) / 2
  let [cut, sum] = [0, 0]
  while (sum < half) sum += counts.get(sorted[cut++]!)!
  cut = Math.max(1, Math.min(sorted.length - 1, cut))
  return [sorted.slice(0, cut), sorted.slice(cut)]
}

function meanOf(group: number[], counts: ReadonlyMap<number, number>): number {
  const total = group.reduce((sum, color) => sum + counts.get(color)!, 0)
  const [red, green, blue] = [0, 1, 2].map((channel) =>
    Math.round(group.reduce((sum, color) => sum + channels(color)[channel]! * counts.get(color)!, 0) / total),
  ) as [number, number, number]
  return (red << 16) | (green << 8) | blue
}

function nearestIn(palette: number[], color: number): number {
  const own = channels(color)
  const distance = (other: number) =>
    channels(other).reduce((sum, value, channel) => sum + (value - own[channel]!) ** 2, 0)
  return palette.reduce(
    (best, other, index) => (distance(other) < distance(palette[best]!) ? index : best),
    0,
  )
}

const channels = (color: number): number[] => [color >> 16, (color >> 8) & 255, color & 255]

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  check.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, check])
}
