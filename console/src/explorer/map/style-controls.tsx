import type { MapLook } from '@wayleave/contract/map-style'
import type { DatasetDetails } from '@wayleave/contract/records'
import { lazy, Suspense, useId, useState } from 'react'
import { count } from '../../words.ts'
import { ChoiceSelect } from './choice-select.tsx'
import { colorColumns, MAX_SUMMED_ROWS, sizeColumns } from './use-scale.ts'

// Rarely opened.
const StylePanel = lazy(async () => ({ default: (await import('./style-panel.tsx')).StylePanel }))

/** Selects the columns that color and size the map, and opens the panel with the rest of its look. */
export function StyleControls({
  dataset,
  look,
  time,
  isDisabled,
  onChange,
  onTime,
}: {
  dataset: DatasetDetails
  look: MapLook
  /** The column of the time slider; empty for none. */
  time: string
  isDisabled: boolean
  onChange: (change: Partial<MapLook>) => void
  onTime: (column: string) => void
}) {
  const [isOpen, setIsOpen] = useState(false)
  const panel = useId()
  const colors = colorColumns(dataset)
  const hasPoints = dataset.geometryTypes.some((type) => type.endsWith('Point'))
  const sizes = hasPoints ? sizeColumns(dataset) : []
  const times = dataset.columns.filter(({ type }) => type === 'date' || type === 'timestamp')
  if (isDisabled && colors.length === 0) return null
  return (
    <div className="style-controls">
      <ChoiceSelect
        label="Color by"
        none="nothing"
        choices={colors}
        value={look.color}
        isDisabled={isDisabled}
        onChange={(color) => onChange({ color, colors: new Map() })}
      />
      {sizes.length > 0 && (
        <ChoiceSelect
          label="Size by"
          none="nothing"
          choices={sizes}
          value={look.size}
          isDisabled={isDisabled}
          onChange={(size) => onChange({ size })}
        />
      )}
      {times.length > 0 && (
        <ChoiceSelect
          label="Time slider"
          none="off"
          choices={times.map(({ name }) => name)}
          value={time}
          isDisabled={isDisabled}
          onChange={onTime}
        />
      )}
      <button
        type="button"
        className="button small"
        aria-expanded={isOpen}
        aria-controls={panel}
        disabled={isDisabled}
        onClick={() => setIsOpen(!isOpen)}
      >
        Style
      </button>
      {dataset.rows > MAX_SUMMED_ROWS && (
        <p className="small soft">
          With more than {count(MAX_SUMMED_ROWS)} rows, texts give colors and numbers do not. A circle of
          several features has its color once you have zoomed in.
        </p>
      )}
      {isOpen && !isDisabled && (
        <Suspense>
          <StylePanel id={panel} dataset={dataset} look={look} hasPoints={hasPoints} onChange={onChange} />
        </Suspense>
      )}
    </div>
  )
}
