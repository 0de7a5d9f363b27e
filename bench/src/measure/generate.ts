import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'

const WORDS = [
  'Müller',
  'Straße',
  'North',
  'Lake',
  '東京',
  'Hill',
  'River, East',
  "O'Brien",
  'the "Old" Mill',
  'Station',
]
export const KINDS = ['hotel', 'school', 'shop', 'bridge', 'well', 'tower', 'park']
const BATCH = 2000

export interface Generated {
  features: number
  /** The geometry type: points, or polygons with a dozen corners. */
  shape?: 'point' | 'polygon'
  /** Whether features have integer ids that are not row numbers. */
  hasIds?: boolean
  seed?: number
}

/** Writes a GeoJSON file with places all over the world; the same arguments give the same bytes. */
export async function generateGeojson(
  path: string,
  { features, shape = 'point', hasIds = false, seed = 1 }: Generated,
): Promise<void> {
  const random = randomNumbers(seed)
  const file = createWriteStream(path)
  file.write('{"type":"FeatureCollection","features":[\n')
  for (let start = 0; start < features; start += BATCH) {
    const lines: string[] = []
    for (let i = start; i < Math.min(start + BATCH, features); i++) {
      const ids = hasIds ? { id: 1000 + i * 3 } : {}
      lines.push(JSON.stringify({ ...generateFeature(i, shape, random), ...ids }))
    }
    const more = start + BATCH < features
    if (!file.write(lines.join(',\n') + (more ? ',\n' : '\n'))) await once(file, 'drain')
  }
  file.end(']}\n')
  await finished(file)
}

function generateFeature(i: number, shape: 'point' | 'polygon', random: () => number): object {
  const longitude = round(random() * 359 - 179.5)
  const latitude = round(random() * 169 - 84.5)
  const word = () => WORDS[Math.floor(random() * WORDS.length)]!
  return {
    type: 'Feature',
    geometry:
      shape === 'point'
        ? { type: 'Point', coordinates: [longitude, latitude] }
        : { type: 'Polygon', coordinates: [ring(longitude, latitude, random)] },
    properties: {
      number: i + 1,
      name: `${word()} ${word()} ${i}`,
      kind: KINDS[Math.floor(random() * KINDS.length)]!,
      population: random() < 0.1 ? null : Math.floor(random() * 1_000_000),
      value: random() * 1000,
      active: random() < 0.5,
      updated: new Date(1.6e12 + Math.floor(random() * 1e8) * 1000).toISOString().replace('.000', ''),
      opened: new Date(Math.floor(random() * 1.6e12)).toISOString().slice(0, 10),
    },
  }
}

function ring(longitude: number, latitude: number, random: () => number): number[][] {
  const corners = Array.from({ length: 12 }, (_, corner) => {
    const angle = (corner / 12) * 2 * Math.PI
    const radius = 0.05 + random() * 0.05
    return [round(longitude + radius * Math.cos(angle)), round(latitude + radius * Math.sin(angle))]
  })
  return [...corners, corners[0]!]
}

function round(degrees: number): number {
  return Math.round(degrees * 1e6) / 1e6
}

/** Mulberry32: small, fast, and deterministic on every machine. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
