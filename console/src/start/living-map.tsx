import type { Dataset } from '@wayleave/client'
import type { DatasetRecord } from '@wayleave/contract/records'
import { useState } from 'react'
import { Link } from 'react-router'
import { type Preview, usePreview } from '../api/queries.ts'
import { type Box, outlineOf } from '../datasets/small-map.tsx'
import { ago, plural, shapeName } from '../words.ts'
import { MovableMap } from './movable-map.tsx'

const MAX_CHOICES = 4
const PULSES = 14

/** A map that is a dataset: drawn from its tiles, with others to choose from. */
export function LivingMap({ datasets }: { datasets: readonly Dataset[] }) {
  const choices = datasets.slice(0, MAX_CHOICES)
  const [chosen, setChosen] = useState(choices[0]?.table)
  const dataset = choices.find(({ table }) => table === chosen) ?? choices[0]
  if (!dataset?.bbox) return null
  return (
    <figure className="living-map card flush">
      <Picture key={dataset.table} dataset={dataset} bbox={dataset.bbox} />
      <figcaption>
        <span>
          <strong dir="auto">{dataset.title}</strong>
          <span className="small soft">
            {shapeName(dataset)}, {plural(dataset.rows, 'row')}, updated {ago(dataset.updatedAt, Date.now())}
          </span>
        </span>
        <Link className="button small" to={`/datasets/${dataset.table}`}>
          Open the map
        </Link>
      </figcaption>
      {choices.length > 1 && (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is for a form.
        <div className="map-choices" role="group" aria-label="Datasets to look at">
          {choices.map(({ table, title }) => (
            <button
              key={table}
              type="button"
              aria-pressed={table === dataset.table}
              onClick={() => setChosen(table)}
            >
              {title}
            </button>
          ))}
        </div>
      )}
    </figure>
  )
}

function Picture({ dataset, bbox }: { dataset: Dataset; bbox: Box }) {
  const { data: preview } = usePreview(dataset as DatasetRecord, true)
  return (
    <MovableMap bbox={bbox} label={`Map of ${dataset.title}`}>
      {preview && (
        <g className="appears">
          <path className="shapes" d={preview.areas} />
          <path className="shapes cut" d={preview.cutAreas} />
          <path className="shapes lines" d={preview.lines} />
          <path className="dots" d={preview.points} />
          {pulsesOf(preview).map((point, index) => (
            <path key={point} className={`pulse after-${index % 7}`} d={`M${point}h0`} />
          ))}
        </g>
      )}
      {preview === null && <path className="shapes extent" d={outlineOf(bbox)} />}
    </MovableMap>
  )
}

/** Some of the points, spread over the whole dataset. */
function pulsesOf({ points }: Preview): string[] {
  const all = [...points.matchAll(/M([-\d.]+ [-\d.]+)/g)].map(([, point]) => point!)
  const step = Math.max(1, Math.floor(all.length / PULSES))
  return [...new Set(all.filter((_, index) => index % step === 0))].slice(0, PULSES)
}
