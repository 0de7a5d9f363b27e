import type { DatasetDetails } from '@wayleave/contract/records'
import { useId } from 'react'
import { colorColumns, sizeColumns } from './use-scale.ts'

/** Selects the columns that color and size the map. */
export function StyleControls({
  dataset,
  color,
  size,
  isDisabled,
  onChange,
}: {
  dataset: DatasetDetails
  color: string
  size: string
  isDisabled: boolean
  onChange: (change: { color: string } | { size: string }) => void
}) {
  const colors = colorColumns(dataset)
  const hasPoints = dataset.geometryTypes.some((type) => type.endsWith('Point'))
  const sizes = hasPoints ? sizeColumns(dataset) : []
  if (colors.length === 0) return null
  return (
    <div className="style-controls">
      <ColumnSelect
        label="Color by"
        columns={colors}
        value={color}
        isDisabled={isDisabled}
        onChange={(color) => onChange({ color })}
      />
      {sizes.length > 0 && (
        <ColumnSelect
          label="Size by"
          columns={sizes}
          value={size}
          isDisabled={isDisabled}
          onChange={(size) => onChange({ size })}
        />
      )}
    </div>
  )
}

function ColumnSelect({
  label,
  columns,
  value,
  isDisabled,
  onChange,
}: {
  label: string
  columns: string[]
  value: string
  isDisabled: boolean
  onChange: (column: string) => void
}) {
  const id = useId()
  return (
    <span className="inline-select">
      <label htmlFor={id} className="small soft">
        {label}
      </label>
      <select
        id={id}
        value={columns.includes(value) ? value : ''}
        disabled={isDisabled}
        onChange={(event) => onChange(event.target.value)}
      >
        <option value="">nothing</option>
        {columns.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </span>
  )
}
