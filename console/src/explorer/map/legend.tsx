import {
  type LegendEntry,
  legendOf,
  type MapLook,
  type NumberScale,
  rampColors,
  type Scale,
  sizeOf,
  type Theme,
} from '@wayleave/contract/map-style'
import { count } from '../../words.ts'
import { ColumnName } from '../column-name.tsx'
import type { Column } from '../filter/facet.ts'
import type { ClassRows } from './use-scale.ts'

const short = new Intl.NumberFormat('en', { maximumSignificantDigits: 4 })
const format = (value: number) => short.format(value)

/** The classes of a column that colors or sizes the map. */
export function Legend({
  scale,
  look,
  column,
  sizes,
  isColor,
  theme,
  hasClusters,
  isFiltered,
  onRows,
}: {
  scale: Scale
  look: MapLook
  column: Column | undefined
  /** How the same column sizes points; null if it does not. */
  sizes: Scale | null
  isColor: boolean
  theme: Theme
  /** Whether a circle may stand for several features. */
  hasClusters: boolean
  isFiltered: boolean
  onRows: ((rows: ClassRows) => void) | undefined
}) {
  const isGradient = isColor && scale.kind === 'numbers' && scale.isContinuous
  const sized = sizes?.kind === 'numbers' ? sizes : null
  const entries = legendOf(scale, look, theme, format).filter(({ isRest }) => isColor || isRest)
  return (
    <section className="map-legend" aria-label={`Legend: ${scale.column}`}>
      <strong>{column ? <ColumnName column={column} /> : scale.column}</strong>
      {isGradient && <Gradient scale={scale} look={look} theme={theme} />}
      {sized && <Sizes scale={sized} />}
      <ul>
        {entries.map((entry) => (
          <Entry key={entry.label} entry={entry} isColor={isColor} />
        ))}
      </ul>
      {hasClusters && <p className="small soft">{clusterWords(scale, isColor, sized !== null)}</p>}
      {isFiltered && onRows && <RowsSwitch scale={scale} onRows={onRows} />}
    </section>
  )
}

function Entry({ entry, isColor }: { entry: LegendEntry; isColor: boolean }) {
  return (
    <li className={entry.isRest ? 'rest' : undefined}>
      <svg width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true">
        <circle r="5" fill={isColor ? entry.color : 'var(--accent)'} />
      </svg>
      <span dir="auto">{entry.label}</span>
      {entry.count !== null && <small className="soft">{count(entry.count)}</small>}
    </li>
  )
}

/** What a circle that stands for several features shows. */
function clusterWords(scale: Scale, isColor: boolean, isSized: boolean): string {
  const parts = [
    ...(isColor ? [scale.kind === 'numbers' ? 'the mean' : 'the most frequent value, paler if mixed'] : []),
    ...(isSized ? ['the size of the largest'] : []),
  ]
  return `A circle of several shows ${parts.join(' and ')}.`
}

function Gradient({ scale, look, theme }: { scale: NumberScale; look: MapLook; theme: Theme }) {
  const colors = rampColors(look.ramp, theme, look.isReversed)
  const { min, max } = scale
  return (
    <div className="map-gradient">
      <div style={{ background: `linear-gradient(to right, ${colors.join(', ')})` }} />
      <p className="small">
        {[min, (min + max) / 2, max].map((value) => (
          <span key={value}>{format(value)}</span>
        ))}
      </p>
    </div>
  )
}

const PIXELS = 2.2

function Sizes({ scale }: { scale: NumberScale }) {
  return (
    <ul className="map-sizes">
      {sizeSteps(scale).map((value) => {
        const radius = PIXELS * sizeOf(scale, value)
        return (
          <li key={value}>
            <svg width={radius * 2 + 2} height={radius * 2 + 2} aria-hidden="true">
              <circle cx={radius + 1} cy={radius + 1} r={radius} fill="none" stroke="currentColor" />
            </svg>
            <span>{format(value)}</span>
          </li>
        )
      })}
    </ul>
  )
}

/** Three round numbers between the ends, or the beginnings of the classes. */
function sizeSteps({ min, max, breaks, isContinuous }: NumberScale): number[] {
  if (!isContinuous) return [min, ...breaks]
  const round = (value: number) => Number(value.toPrecision(2))
  return [...new Set([min, round((min + max) / 2), max])]
}

/** Says which rows the classes are made from, and changes it. */
function RowsSwitch({ scale, onRows }: { scale: Scale; onRows: (rows: ClassRows) => void }) {
  const noun = scale.kind === 'numbers' ? 'Classes' : 'Values'
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
