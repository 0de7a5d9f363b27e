import type { Dataset, Geometry, Row } from '@wayleave/client'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { useSample } from '../api/queries.ts'
import { cellText } from './cell-text.ts'

const Coast = lazy(async () => {
  const { default: path } = await import('virtual:world/outline')
  return { default: () => <path className="coast" d={path} /> }
})

/** A preview of the data: the sample on a small map, or its first rows. Loaded when it scrolls into view. */
export function DatasetPreview({ dataset }: { dataset: Dataset }) {
  const place = useRef<HTMLDivElement>(null)
  const [seen, setSeen] = useState(false)
  useEffect(() => {
    const watch = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) setSeen(true)
      },
      { rootMargin: '200px' },
    )
    watch.observe(place.current!)
    return () => watch.disconnect()
  }, [])
  const { data: rows = [] } = useSample(dataset.table, dataset.version, seen && dataset.sample !== null)
  return (
    <div className="preview" ref={place} aria-hidden="true">
      {dataset.bbox ? (
        <MapPreview bbox={dataset.bbox} rows={rows} />
      ) : (
        <TablePreview names={dataset.columns.slice(0, 4).map(({ name }) => name)} rows={rows} />
      )}
    </div>
  )
}

type Box = [west: number, south: number, east: number, north: number]

function MapPreview({ bbox, rows }: { bbox: Box; rows: Row[] }) {
  const [west, south, east, north] = padded(bbox)
  const drawn = pathsOf(rows)
  return (
    <svg
      aria-hidden="true"
      viewBox={`${west} ${-north} ${east - west} ${north - south}`}
      preserveAspectRatio="xMidYMid slice"
    >
      <Suspense>
        <Coast />
      </Suspense>
      <path className="shapes" d={drawn.areas} />
      <path className="shapes lines" d={drawn.lines} />
      <path className="dots" d={drawn.points} />
    </svg>
  )
}

/**
 * Adds a margin around the data. The box is at least two degrees wide, because the coastline is too coarse
 * for closer views.
 */
function padded([west, south, east, north]: Box): Box {
  const width = Math.max(2, (east - west) * 1.08)
  const height = Math.max(1.5, (north - south) * 1.08)
  const x = (west + east) / 2
  const y = (south + north) / 2
  return [x - width / 2, y - height / 2, x + width / 2, y + height / 2]
}

function pathsOf(rows: Row[]): { points: string; lines: string; areas: string } {
  const drawn = { points: '', lines: '', areas: '' }
  for (const row of rows) {
    const geometry = row['geometry'] as Geometry | null | undefined
    if (geometry) draw(geometry, drawn)
    else if (typeof row['longitude'] === 'number')
      drawn.points += dot([row['longitude'], row['latitude'] as number])
  }
  return drawn
}

const place = ([x, y]: number[]) => `${x!.toFixed(2)} ${(-y!).toFixed(2)}`
const dot = (position: number[]) => `M${place(position)}h0`
const line = (positions: number[][]) => `M${positions.map(place).join('L')}`

function draw(geometry: Geometry, drawn: { points: string; lines: string; areas: string }): void {
  switch (geometry.type) {
    case 'Point':
      drawn.points += dot(geometry.coordinates)
      break
    case 'MultiPoint':
      drawn.points += geometry.coordinates.map(dot).join('')
      break
    case 'LineString':
      drawn.lines += line(geometry.coordinates as number[][])
      break
    case 'MultiLineString':
      drawn.lines += geometry.coordinates.map(line).join('')
      break
    case 'Polygon':
      drawn.areas += geometry.coordinates.map((ring) => `${line(ring)}Z`).join('')
      break
    case 'MultiPolygon':
      drawn.areas += geometry.coordinates
        .flat()
        .map((ring) => `${line(ring)}Z`)
        .join('')
      break
    case 'GeometryCollection':
      for (const part of geometry.geometries) draw(part, drawn)
  }
}

function TablePreview({ names, rows }: { names: string[]; rows: Row[] }) {
  return (
    <table>
      <thead>
        <tr>
          {names.map((name) => (
            <th key={name}>{name}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.slice(0, 5).map((row, index) => (
          <tr key={index}>
            {names.map((name) => (
              <td key={name}>{cellText(row[name])}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
