import { crc32, deflateSync } from 'node:zlib'
import type { Page } from 'playwright-core'

const MAX_COLORS = 256

/** A picture as the browser decodes it: red, green, blue and opacity of each pixel. */
interface Pixels {
  width: number
  height: number
  data: Uint8Array
}

/** The different colors of a picture, each as one number of red, green and blue, and how many pixels have them. */
interface Colors {
  values: Uint32Array
  counts: Uint32Array
}

/** Colors that become one of the palette: indexes of `Colors`, the channel in which they differ most, and by how much. */
interface Group {
  indexes: Uint32Array
  channel: number
  weight: number
}

/** A screenshot as a PNG with a palette: a third of the bytes, and to the eye the same. */
export async function palettePng(page: Page, screenshot: Buffer): Promise<Buffer> {
  return encodePalette(await pixelsOf(page, screenshot))
}

/** The browser that took the picture decodes it. */
async function pixelsOf(page: Page, screenshot: Buffer): Promise<Pixels> {
  const { width, height, base64 } = await page.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
    const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }))
    const { width, height } = bitmap
    const context = new OffscreenCanvas(width, height).getContext('2d')!
    context.drawImage(bitmap, 0, 0)
    const { data } = context.getImageData(0, 0, width, height)
    const address = await new Promise<string>((resolve) => {
      const reader = new FileReader()
      reader.onload = () => resolve(reader.result as string)
      reader.readAsDataURL(new Blob([data]))
    })
    return { width, height, base64: address.slice(address.indexOf(',') + 1) }
  }, screenshot.toString('base64'))
  return { width, height, data: Buffer.from(base64, 'base64') }
}

/** A PNG of at most 256 colors. A picture that has no more keeps each of them. */
export function encodePalette({ width, height, data }: Pixels): Buffer {
  const numbers = new Uint32Array(width * height)
  for (let at = 0; at < numbers.length; at++)
    numbers[at] = (data[4 * at]! << 16) | (data[4 * at + 1]! << 8) | data[4 * at + 2]!
  const colors = differentColors(numbers)
  const palette = paletteOf(colors)
  const nearest = new Map<number, number>()
  for (const color of colors.values) nearest.set(color, nearestIn(palette, color))
  const lines = Buffer.alloc((width + 1) * height)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) lines[y * (width + 1) + x + 1] = nearest.get(numbers[y * width + x]!)!
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  // 8 bits for each pixel, as the number of a color in the palette.
  head.set([8, 3, 0, 0, 0], 8)
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', head),
    chunk('PLTE', Buffer.from(palette)),
    chunk('IDAT', deflateSync(lines, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function differentColors(numbers: Uint32Array): Colors {
  const counted = new Map<number, number>()
  for (const number of numbers) counted.set(number, (counted.get(number) ?? 0) + 1)
  return { values: Uint32Array.from(counted.keys()), counts: Uint32Array.from(counted.values()) }
}

/**
 * Median cut: the group of colors that spreads most is halved until there are as many as the palette takes. Returns red,
 * green and blue of each group's mean. A map has a hundred thousand colors, so the spread of a group is computed once.
 */
function paletteOf(colors: Colors): Uint8Array {
  const groups = [
    groupOf(
      colors.values.map((_, index) => index),
      colors,
    ),
  ]
  while (groups.length < MAX_COLORS) {
    const widest = groups.reduce((best, group, at) => (group.weight > groups[best]!.weight ? at : best), 0)
    if (groups[widest]!.weight === 0) break
    groups.splice(widest, 1, ...halves(groups[widest]!, colors))
  }
  return Uint8Array.from(groups.flatMap((group) => meanOf(group, colors)))
}

function groupOf(indexes: Uint32Array, { values, counts }: Colors): Group {
  const [min, max] = [
    [255, 255, 255],
    [0, 0, 0],
  ]
  let pixels = 0
  for (const index of indexes) {
    pixels += counts[index]!
    for (let channel = 0; channel < 3; channel++) {
      const value = channelOf(values[index]!, channel)
      if (value < min[channel]!) min[channel] = value
      if (value > max[channel]!) max[channel] = value
    }
  }
  const ranges = max.map((value, channel) => value - min[channel]!)
  const range = Math.max(...ranges)
  return { indexes, channel: ranges.indexOf(range), weight: range * Math.sqrt(pixels) }
}

function halves({ indexes, channel }: Group, colors: Colors): [Group, Group] {
  const { values, counts } = colors
  const sorted = indexes.toSorted((a, b) => channelOf(values[a]!, channel) - channelOf(values[b]!, channel))
  let half = 0
  for (const index of sorted) half += counts[index]! / 2
  let [cut, pixels] = [0, 0]
  while (pixels < half) pixels += counts[sorted[cut++]!]!
  cut = Math.max(1, Math.min(sorted.length - 1, cut))
  return [groupOf(sorted.subarray(0, cut), colors), groupOf(sorted.subarray(cut), colors)]
}

function meanOf({ indexes }: Group, { values, counts }: Colors): number[] {
  const sums = [0, 0, 0]
  let pixels = 0
  for (const index of indexes) {
    pixels += counts[index]!
    for (let channel = 0; channel < 3; channel++)
      sums[channel]! += channelOf(values[index]!, channel) * counts[index]!
  }
  return sums.map((sum) => Math.round(sum / pixels))
}

function nearestIn(palette: Uint8Array, color: number): number {
  const [red, green, blue] = [channelOf(color, 0), channelOf(color, 1), channelOf(color, 2)]
  let [best, least] = [0, Number.POSITIVE_INFINITY]
  for (let at = 0; at < palette.length; at += 3) {
    const distance =
      (palette[at]! - red) ** 2 + (palette[at + 1]! - green) ** 2 + (palette[at + 2]! - blue) ** 2
    if (distance < least) [best, least] = [at / 3, distance]
  }
  return best
}

/** Red, green or blue of a color. */
const channelOf = (color: number, channel: number): number => (color >> (16 - 8 * channel)) & 255

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  check.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, check])
}
