import type { MapLook, Scale, Theme } from '@wayleave/contract/map-style'
import type { DatasetDetails } from '@wayleave/contract/records'
import { Legend } from './legend.tsx'
import type { ClassRows } from './use-scale.ts'

/** The legends of the columns that color and size the map: one if it is the same column. */
export function MapLegends({
  dataset,
  look,
  color,
  size,
  theme,
  isSummed,
  isFiltered,
  onRows,
}: {
  dataset: DatasetDetails
  look: MapLook
  color: Scale | null
  size: Scale | null
  theme: Theme
  /** Whether circles that stand for several features show what these have. */
  isSummed: boolean
  isFiltered: boolean
  onRows: ((rows: ClassRows) => void) | undefined
}) {
  const scales = [color, size?.column === color?.column && color ? null : size].filter((one) => one !== null)
  const hasPoints = dataset.geometryTypes.some((type) => type.endsWith('Point'))
  if (scales.length === 0) return null
  return (
    <div className="map-legends">
      {scales.map((scale) => (
        <Legend
          key={scale.column}
          // A column that colors by classes and sizes continuously has both in one legend.
          scale={scale}
          sizes={scale.column === size?.column ? size : null}
          look={look}
          column={dataset.columns.find(({ name }) => name === scale.column)}
          isColor={scale === color}
          theme={theme}
          hasClusters={isSummed && hasPoints}
          isFiltered={isFiltered}
          onRows={onRows}
        />
      ))}
    </div>
  )
}
