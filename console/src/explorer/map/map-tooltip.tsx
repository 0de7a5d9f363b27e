import type { MapLook } from '@wayleave/contract/map-style'
import type { DatasetDetails } from '@wayleave/contract/records'
import { plural } from '../../words.ts'
import { ColumnName } from '../column-name.tsx'
import type { LabelColumn } from '../label-column.ts'
import type { MapTarget } from './explorer-map.ts'
import { valueWords } from './value-words.ts'

/** What is under the mouse, with the values that give its color and size. For screen readers the details say the same. */
export function MapTooltip({
  target,
  label,
  dataset,
  look,
}: {
  target: MapTarget
  label: LabelColumn
  dataset: DatasetDetails
  look: MapLook
}) {
  const { id, count, properties } = target
  const isOfSeveral = id === null
  const name = label ? properties[label] : undefined
  const several = count === 0 ? 'Part of a feature' : plural(count, 'feature')
  const shown = [...new Set([look.color, look.size])].flatMap((name) => {
    const column = dataset.columns.find((one) => one.name === name)
    const words = column && name !== label ? valueWords(column, properties, isOfSeveral) : null
    return column && words !== null ? [{ column, words }] : []
  })
  return (
    <div
      className="map-tooltip"
      aria-hidden="true"
      style={{ transform: `translate(calc(${target.x}px - 50%), calc(${target.y - 12}px - 100%))` }}
    >
      <strong dir="auto">{isOfSeveral ? several : String(name ?? id)}</strong>
      {shown.map(({ column, words }) => (
        <span key={column.name} className="map-tooltip-value">
          <span className="soft">
            <ColumnName column={column} />
          </span>
          <span dir="auto">{words}</span>
        </span>
      ))}
      {isOfSeveral && <span className="soft">Click to zoom in</span>}
    </div>
  )
}
