import type { MapLook, Scale } from '@wayleave/contract/map-style'
import type { DatasetDetails } from '@wayleave/contract/records'
import { lazy, Suspense, useId, useRef, useState } from 'react'
import { ChoiceSelect } from './choice-select.tsx'
import { canBeSummed, colorColumns, hasPoints, numberColumns, sizeColumns } from './color-columns.ts'

// Rarely opened.
const StylePanel = lazy(async () => ({ default: (await import('./style-panel.tsx')).StylePanel }))

/** Selects the columns that color and size the map, and opens the panel with the rest of its look. */
export function StyleControls({
  dataset,
  look,
  color,
  time,
  isDisabled,
  onChange,
  onTime,
}: {
  dataset: DatasetDetails
  look: MapLook
  /** How the column that colors the map does it. */
  color: Scale | null
  /** The column of the time slider; empty for none. */
  time: string
  isDisabled: boolean
  onChange: (change: Partial<MapLook>) => void
  onTime: (column: string) => void
}) {
  const [isOpen, setIsOpen] = useState(false)
  const panel = useId()
  const opener = useRef<HTMLButtonElement>(null)
  const close = () => {
    setIsOpen(false)
    opener.current?.focus()
  }
  const colors = colorColumns(dataset)
  const isOfPoints = hasPoints(dataset)
  const sizes = sizeColumns(dataset)
  const times = dataset.columns.filter(({ type }) => type === 'date' || type === 'timestamp')
  if (isDisabled && colors.length === 0) return null
  // A heat map shows where features are, and a hexagon how many they are or the mean of a number.
  const isHeat = look.draw === 'heat'
  const isHexagons = look.draw === 'hexagons'
  return (
    <>
      <div className="style-controls">
        {!isHeat && (
          <ChoiceSelect
            label="Color by"
            none={isHexagons ? 'number of features' : 'nothing'}
            choices={isHexagons ? numberColumns(dataset) : colors}
            value={look.color}
            isDisabled={isDisabled}
            onChange={(color) => onChange({ color, colors: new Map() })}
          />
        )}
        {sizes.length > 0 && look.draw === 'features' && (
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
          ref={opener}
          type="button"
          className="button small style-opener"
          aria-expanded={isOpen}
          aria-controls={panel}
          disabled={isDisabled}
          onClick={() => setIsOpen(!isOpen)}
        >
          Style
        </button>
        {isOfPoints &&
          look.draw === 'features' &&
          colors.includes(look.color) &&
          !canBeSummed(dataset, look.color) && (
            <p className="small soft">
              {look.color} has too many different values to be summed up: a circle of several features has its
              color once you have zoomed in.
            </p>
          )}
      </div>
      {isOpen && !isDisabled && (
        <Suspense>
          <StylePanel
            id={panel}
            dataset={dataset}
            look={look}
            color={color}
            hasPoints={isOfPoints}
            onChange={onChange}
            onClose={close}
          />
        </Suspense>
      )}
    </>
  )
}
