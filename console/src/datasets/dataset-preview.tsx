import type { Dataset } from '@wayleave/client'
import type { DatasetRecord } from '@wayleave/contract/records'
import { useEffect, useRef, useState } from 'react'
import { usePreview, useSample } from '../api/queries.ts'
import { cellText } from './cell-text.ts'
import { type Box, outlineOf, SmallMap } from './small-map.tsx'

/** A preview of the data: a small map from its tiles, or its first rows. Loaded when it scrolls into view. */
export function DatasetPreview({ dataset }: { dataset: Dataset }) {
  const place = useRef<HTMLDivElement>(null)
  const [seen, setSeen] = useState(false)
  useEffect(() => {
    const watch = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting) setSeen(true)
    })
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

function MapPreview({ dataset, bbox, isSeen }: { dataset: Dataset; bbox: Box; isSeen: boolean }) {
  const { data: preview } = usePreview(dataset as DatasetRecord, isSeen)
  return (
    <SmallMap bbox={bbox}>
      {preview && (
        <>
          <path className="shapes" d={preview.areas} />
          <path className="shapes cut" d={preview.cutAreas} />
          <path className="shapes lines" d={preview.lines} />
          <path className="dots" d={preview.points} />
        </>
      )}
      {preview === null && <path className="shapes extent" d={outlineOf(bbox)} />}
    </SmallMap>
  )
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
