import type { MapLook, Scale, Theme } from '@wayleave/contract/map-style'
import type { DatasetDetails } from '@wayleave/contract/records'
import { columnOf } from '../filter/clause.ts'
import { parseClauses } from '../filter/parse-clauses.ts'
import { type ColorValue, HeatLegend, Legend, type PickEntry } from './legend.tsx'
import type { ClassRows } from './use-scale.ts'

/** The legends of the columns that color and size the map: one if it is the same column. */
export function MapLegends({
  dataset,
  look,
  color,
  size,
  theme,
  hasSums,
  filter,
  classes,
  onPick,
  onColor,
  onRows,
  isFoldedFirst,
}: {
  dataset: DatasetDetails
  look: MapLook
  color: Scale | null
  size: Scale | null
  theme: Theme
  /** Whether a circle in view stands for several features and shows what these have. */
  hasSums: boolean
  filter: string
  /** The rows whose values are asked for to make the classes. */
  classes: ClassRows
  /** Absent if the rows cannot be filtered. */
  onPick: PickEntry | undefined
  onColor: ColorValue | undefined
  onRows: ((rows: ClassRows) => void) | undefined
  /** Whether only the titles of the legends are shown at first. */
  isFoldedFirst: boolean
}) {
  const scales = [color, size?.column === color?.column && color ? null : size].filter((one) => one !== null)
  if (look.draw === 'heat') return <HeatLegend look={look} theme={theme} isFoldedFirst={isFoldedFirst} />
  if (scales.length === 0) return null
  const types = new Map(dataset.columns.map(({ name, type }) => [name, type as string]))
  const clauses = parseClauses(filter, types)
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
          hasClusters={hasSums}
          own={clauses.find((clause) => columnOf(clause) === scale.column)}
          isFoldedFirst={isFoldedFirst}
          onPick={onPick}
          onColor={onColor}
          onRows={filter !== '' && (classes === 'all' || scale.rows === 'filtered') ? onRows : undefined}
        />
      ))}
    </div>
  )
}
