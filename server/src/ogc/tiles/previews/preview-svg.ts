import type { Preview } from './preview.ts'

const WIDTH = 400
const MAX_HEIGHT = 400

/** A picture of its own, in colors that can be seen on light and dark ground. */
export function previewSvg({ bbox, points, lines, areas, cutAreas }: Preview): string {
  const [west, south, east, north] = bbox[0] > bbox[2] ? [-180, bbox[1], 180, bbox[3]] : bbox
  const width = Math.max(0.01, (east - west) * 1.08)
  const height = Math.max(0.01, (north - south) * 1.08)
  const [x, y] = [(west + east) / 2 - width / 2, -(south + north) / 2 - height / 2]
  const pixels = Math.min(MAX_HEIGHT, Math.max(40, Math.round((WIDTH * height) / width)))
  const path = (attributes: string, d: string) =>
    d === '' ? '' : `<path ${attributes} vector-effect="non-scaling-stroke" d="${d}"/>`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${x} ${y} ${width} ${height}" width="${WIDTH}" height="${pixels}">`,
    path('fill="#2a9d83" fill-opacity="0.3" stroke="#2a9d83"', areas),
    path('fill="#2a9d83" fill-opacity="0.3"', cutAreas),
    path('fill="none" stroke="#2a9d83"', lines),
    path('fill="none" stroke="#2a9d83" stroke-width="3" stroke-linecap="round"', points),
    '</svg>\n',
  ].join('')
}
