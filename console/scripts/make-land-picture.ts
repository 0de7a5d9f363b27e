/**
 * Writes server/src/ogc/html/land.svg, the land behind the maps of the OGC API's pages, from the coasts in
 * console/data: `node console/scripts/make-land-picture.ts`. One unit is a tenth of a degree.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { feature } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'

const UNITS = 10
const WORLD = 360 * UNITS
const SOUTH = 180 * UNITS
const source = join(import.meta.dirname, '../data/land-110m.json.br')
const target = join(import.meta.dirname, '../../server/src/ogc/html/land.svg')

const topology: Topology<{ land: GeometryCollection }> = JSON.parse(
  brotliDecompressSync(readFileSync(source)).toString(),
)
const polygons = feature(topology, topology.objects.land).features.flatMap(
  ({ geometry }) => (geometry as { coordinates: number[][][][] }).coordinates,
)
const path = polygons.flat().map(ringPaths).join('')
writeFileSync(
  target,
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 3600 1800" preserveAspectRatio="none"><title>Land</title><path d="${path}" fill="#7d8d8c" fill-opacity=".28" fill-rule="evenodd"/></svg>\n`,
)
console.log(`${target}: ${path.length} characters`)

/** A ring in whole units. One that crosses the antimeridian is drawn at both edges of the picture. */
function ringPaths(ring: number[][]): string {
  const points = ring.map(([longitude, latitude]): [number, number] => [
    Math.round((longitude! + 180) * UNITS),
    Math.round((90 - latitude!) * UNITS),
  ])
  const unwrapped: [number, number][] = []
  for (const [x, y] of points) {
    const [lastX] = unwrapped.at(-1) ?? [x]
    unwrapped.push([x - Math.round((x - lastX) / WORLD) * WORLD, y])
  }
  const [[startX], [endX]] = [unwrapped[0]!, unwrapped.at(-1)!]
  // Antarctica goes around the pole, and is closed along the edge of the picture.
  if (endX !== startX) unwrapped.push([endX, SOUTH], [startX, SOUTH])
  const xs = unwrapped.map(([x]) => x)
  return [-WORLD, 0, WORLD]
    .filter((shift) => Math.min(...xs) + shift < WORLD && Math.max(...xs) + shift > 0)
    .map((shift) => pathOf(unwrapped.map(([x, y]) => [x + shift, y])))
    .join('')
}

/** Each point is relative to the one before. */
function pathOf(points: [number, number][]): string {
  const [startX, startY] = points[0]!
  let [lastX, lastY] = [startX, startY]
  let text = `M${startX} ${startY}l`
  for (const [x, y] of points.slice(1)) {
    if (x !== lastX || y !== lastY) text += `${x - lastX},${y - lastY} `
    lastX = x
    lastY = y
  }
  return `${text.trimEnd()}z`
}
