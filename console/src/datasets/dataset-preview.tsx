import type { Dataset } from '@wayleave/client'
import type { DatasetRecord } from '@wayleave/contract/records'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { usePreview, useSample } from '../api/queries.ts'
import { cellText } from './cell-text.ts'

const Coast = lazy(async () => {
  const { default: path } = await import('virtual:world/outline')
  return { default: () => <path className="coast" d={path} /> }
})

/** A preview of the data: a small map from its tiles, or its first rows. Loaded when it scrolls into view. */
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
  return (
    <div className="preview" ref={place} aria-hidden="true">
      {dataset.bbox ? (
        <MapPreview dataset={dataset} bbox={dataset.bbox} isSeen={seen} />
      ) : (
        <TablePreview dataset={dataset} isSeen={seen} />
      )}
    </div>
  )
}

type Box = [west: number, south: number, east: number, north: number]

function MapPreview({ dataset, bbox, isSeen }: { dataset: Dataset; bbox: Box; isSeen: boolean }) {
  const [west, south, east, north] = padded(bbox)
  const { data: preview } = usePreview(dataset as DatasetRecord, isSeen)
  return (
    <svg
      aria-hidden="true"
      viewBox={`${west} ${-north} ${east - west} ${north - south}`}
      preserveAspectRatio="xMidYMid meet"
    >
      <Suspense>
        <Coast />
      </Suspense>
      {preview && (
        <>
          <path className="shapes" d={preview.areas} />
          <path className="shapes cut" d={preview.cutAreas} />
          <path className="shapes lines" d={preview.lines} />
          <path className="dots" d={preview.points} />
        </>
      )}
      {preview === null && <path className="shapes extent" d={outlineOf(bbox)} />}
    </svg>
  )
}

/** Without tiles only the extent is shown: a sample would look like data with holes. */
function outlineOf([west, south, east, north]: Box): string {
  return `M${west} ${-south}H${east}V${-north}H${west}Z`
}

/**
 * Adds a margin around the data. The box is at least two degrees wide, because the coastline is too coarse
 * for closer views.
 */
function padded([west, south, beyond, north]: Box): Box {
  // A box across the antimeridian is shown on the whole world.
  const [left, east] = west > beyond ? [-180, 180] : [west, beyond]
  const width = Math.max(2, (east - left) * 1.08)
  const height = Math.max(1.5, (north - south) * 1.08)
  const x = (left + east) / 2
  const y = (south + north) / 2
  return [x - width / 2, y - height / 2, x + width / 2, y + height / 2]
}

function TablePreview({ dataset, isSeen }: { dataset: Dataset; isSeen: boolean }) {
  const names = dataset.columns.slice(0, 4).map(({ name }) => name)
  const { data: rows = [] } = useSample(dataset.table, dataset.version, isSeen && dataset.sample !== null)
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
