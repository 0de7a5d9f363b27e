/**
 * Writes geodata/src/geometry/land-cells.ts, the cells of one degree that have land other than Antarctica, from the coasts in
 * console/data: `node console/scripts/make-land-mask.ts`.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, deflateRawSync } from 'node:zlib'
import { feature } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'

const source = join(import.meta.dirname, '../data/land-50m.json.br')
const target = join(import.meta.dirname, '../../geodata/src/geometry/land-cells.ts')
/** Samples along each side of a cell, and along the coast between two of its points. */
const SAMPLES = 4

const topology: Topology<{ land: GeometryCollection }> = JSON.parse(
  brotliDecompressSync(readFileSync(source)).toString(),
)
const rings = feature(topology, topology.objects.land)
  .features.flatMap(({ geometry }) => (geometry as { coordinates: number[][][][] }).coordinates)
  .flat()

const cells = new Uint8Array((360 * 180) / 8)
function mark(longitude: number, latitude: number): void {
  const column = Math.floor(longitude + 540) % 360
  const row = Math.min(179, Math.max(0, Math.floor(latitude + 90)))
  const cell = row * 360 + column
  cells[cell >> 3]! |= 1 << (cell & 7)
}

// Inside: by the crossings of each parallel, with each ring unwrapped.
for (let y = -90 + 0.5 / SAMPLES; y < 90; y += 1 / SAMPLES) {
  const crossings: number[] = []
  for (const ring of rings) {
    let shift = 0
    for (let i = 1; i < ring.length; i++) {
      const [x1, y1] = ring[i - 1] as [number, number]
      const [x2, y2] = ring[i] as [number, number]
      const turn = Math.round((x1 - x2) / 360) * 360
      if (y1 > y !== y2 > y) crossings.push(x1 + shift + ((x2 + turn - x1) * (y - y1)) / (y2 - y1))
      shift -= turn
      for (let part = 0; part <= SAMPLES; part++)
        mark(x1 + ((x2 + turn - x1) * part) / SAMPLES, y1 + ((y2 - y1) * part) / SAMPLES)
    }
  }
  crossings.sort((a, b) => a - b)
  for (let i = 1; i < crossings.length; i += 2)
    for (let x = crossings[i - 1]!; x < crossings[i]!; x += 0.5) mark(x, y)
}
// Without Antarctica, where hardly any data is: the eastern United States lie there if their axes are exchanged.
cells.fill(0, 0, (30 * 360) / 8)

const text = deflateRawSync(cells, { level: 9 }).toString('base64')
const lines = text.match(/.{1,100}/g)!.map((line) => `  '${line}',`)
writeFileSync(
  target,
  `/** Written by console/scripts/make-land-mask.ts from Natural Earth: a bit for each cell of one degree, deflated, in base64. */\nexport const LAND_CELLS = [\n${lines.join('\n')}\n].join('')\n`,
)
const land = cells.reduce((sum, byte) => sum + byte.toString(2).replaceAll('0', '').length, 0)
console.log(`${target}: ${land} of 64800 cells, ${text.length} characters`)
