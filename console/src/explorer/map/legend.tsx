import type { Theme } from '../../theme.ts'
import { ColumnName } from '../column-name.tsx'
import type { Column } from '../filter/facet.ts'
import { legendOf, type Scale, sizeOf } from './coloring.ts'
import { PALETTES, RING_OPACITY } from './map-palette.ts'
import type { ClassRows } from './use-scale.ts'

const short = new Intl.NumberFormat('en', { maximumSignificantDigits: 4 })

/** The classes of a column that colors or sizes the map. */
export function Legend({
  scale,
  column,
  isColor,
  isSize,
  theme,
  hasClusters,
  isFiltered,
  onRows,
}: {
  scale: Scale
  column: Column | undefined
  isColor: boolean
  isSize: boolean
  theme: Theme
  /** Whether a circle may stand for several features, which have no common value. */
  hasClusters: boolean
  isFiltered: boolean
  onRows: ((rows: ClassRows) => void) | undefined
}) {
  const isSized = isSize && scale.kind === 'quantiles'
  const classes = scale.kind === 'quantiles' ? scale.breaks.length + 1 : 0
  const cluster = PALETTES[theme].label
  return (
    <section className="map-legend" aria-label={`Legend: ${scale.column}`}>
      <strong>{column ? <ColumnName column={column} /> : scale.column}</strong>
      <ul>
        {legendOf(scale, theme, (value) => short.format(value)).map(({ label, color, isRest }, index) => (
          <li key={label} className={isRest ? 'rest' : undefined}>
            <svg width="18" height="14" viewBox="-9 -7 18 14" aria-hidden="true">
              <circle
                r={isSized ? Math.min(6.5, 2.6 * sizeOf(index < classes ? index : 0)) : 5}
                fill={isColor ? color : 'var(--accent)'}
              />
            </svg>
            <span dir="auto">{label}</span>
          </li>
        ))}
        {hasClusters && (
          <li className="rest">
            <svg width="18" height="14" viewBox="-9 -7 18 14" aria-hidden="true">
              <circle r="5" fill={cluster} fillOpacity={RING_OPACITY} stroke={cluster} strokeWidth="1.5" />
            </svg>
            <span>zoom in for the color</span>
          </li>
        )}
      </ul>
      {isFiltered && onRows && <RowsSwitch scale={scale} onRows={onRows} />}
    </section>
  )
}

/** Says which rows the classes are made from, and changes it. */
function RowsSwitch({ scale, onRows }: { scale: Scale; onRows: (rows: ClassRows) => void }) {
  const noun = scale.kind === 'quantiles' ? 'Classes' : 'Values'
  const isOfAll = scale.rows === 'all'
  return (
    <p className="map-legend-rows small soft">
      {noun} of {isOfAll ? 'all rows.' : 'the filtered rows.'}{' '}
      <button type="button" className="link" onClick={() => onRows(isOfAll ? 'filtered' : 'all')}>
        {isOfAll ? 'Use the filtered rows' : 'Use all rows'}
      </button>
    </p>
  )
}
