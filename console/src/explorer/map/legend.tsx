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
import type { Clause } from '../filter/clause.ts'
import type { Column } from '../filter/facet.ts'
import { LegendFold } from './legend-fold.tsx'
import { entryClause, isEntrySelected, selectsEntries } from './legend-picks.ts'
import type { ClassRows } from './use-scale.ts'

const short = new Intl.NumberFormat('en', { maximumSignificantDigits: 4 })
/** A minus sign is no dash between two numbers. */
const format = (value: number) => short.format(value).replace('-', '−')

/** Filters by the rows of an entry, or by them too. */
export type PickEntry = (clause: Clause, isAdded: boolean) => void

/** Gives a value a color, as `#rrggbb`. */
export type ColorValue = (value: string, color: string) => void

/** The classes of a column that colors or sizes the map. A click on one filters by it. */
export function Legend({
  scale,
  look,
  column,
  sizes,
  isColor,
  theme,
  hasClusters,
  own,
  onPick,
  onColor,
  onRows,
  isFoldedFirst,
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
  /** What the filter says about the column. */
  own: Clause | undefined
  onPick: PickEntry | undefined
  /** Absent if the colors cannot be changed here. */
  onColor: ColorValue | undefined
  /** Absent if all rows match. */
  onRows: ((rows: ClassRows) => void) | undefined
  isFoldedFirst: boolean
}) {
  const isGradient = isColor && scale.kind === 'numbers' && scale.isContinuous
  const sized = sizes?.kind === 'numbers' ? sizes : null
  const entries = legendOf(scale, look, theme, format).filter(({ isRest }) => isColor || isRest)
  const selecting = own && selectsEntries(scale, own) ? own : null
  return (
    <LegendFold
      label={scale.column}
      title={column ? <ColumnName column={column} /> : 'Features in a cell'}
      isFoldedFirst={isFoldedFirst}
    >
      {isGradient && <Gradient scale={scale} look={look} theme={theme} />}
      {sized && <Sizes scale={sized} />}
      <ul>
        {entries.map((entry) => (
          <Entry
            key={entry.label}
            entry={entry}
            isColor={isColor}
            isSelected={selecting === null ? null : isEntrySelected(scale, entry, selecting)}
            clause={entryClause(scale, entry)}
            onPick={onPick}
            onColor={isColor ? onColor : undefined}
          />
        ))}
      </ul>
      {look.draw === 'hexagons' && column && <p className="small soft">A cell shows the mean.</p>}
      {hasClusters && <p className="small soft">{clusterWords(scale, isColor, sized !== null)}</p>}
      {onRows && <RowsSwitch scale={scale} onRows={onRows} />}
    </LegendFold>
  )
}

function Entry({
  entry,
  isColor,
  isSelected,
  clause,
  onPick,
  onColor,
}: {
  entry: LegendEntry
  isColor: boolean
  /** Null if nothing is selected. */
  isSelected: boolean | null
  clause: Clause | null
  onPick: PickEntry | undefined
  onColor: ColorValue | undefined
}) {
  const { value } = entry
  const swatch = (
    <svg width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true">
      <circle r="5" fill={isColor ? entry.color : 'var(--accent)'} />
    </svg>
  )
  const hasOwnColor = value !== undefined && onColor !== undefined
  const content = (
    <>
      {!hasOwnColor && swatch}
      <span dir="auto">{entry.label}</span>
      {entry.count !== null && <small className="soft">{count(entry.count)}</small>}
    </>
  )
  const className = [entry.isRest && 'rest', isSelected === false && 'faint'].filter(Boolean).join(' ')
  return (
    <li className={className || undefined}>
      {hasOwnColor && (
        <label className="swatch" title="Choose the color">
          {swatch}
          <input
            type="color"
            aria-label={`Color of ${entry.label}`}
            value={entry.color}
            onChange={(event) => onColor(value, event.target.value)}
          />
        </label>
      )}
      {clause && onPick ? (
        <button
          type="button"
          aria-pressed={isSelected === true}
          title={isSelected ? 'Show all rows again' : 'Show only these rows'}
          onClick={(event) => onPick(clause, event.ctrlKey || event.metaKey || event.shiftKey)}
        >
          {content}
        </button>
      ) : (
        content
      )}
    </li>
  )
}

/** What a circle that stands for several features shows. */
function clusterWords(scale: Scale, isColor: boolean, isSized: boolean): string {
  const parts = [
    ...(isColor ? [scale.kind === 'numbers' ? 'the mean' : 'the most frequent value, paler if mixed'] : []),
    ...(isSized ? ['the size of the largest'] : []),
  ]
  const subject = isSized ? 'A circle of several' : 'A larger circle stands for several features and'
  return `${subject} shows ${parts.join(' and ')}.`
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

/** A heat map has no numbers: its colors tell where features are denser than elsewhere in the view. */
export function HeatLegend({
  look,
  theme,
  isFoldedFirst,
}: {
  look: MapLook
  theme: Theme
  isFoldedFirst: boolean
}) {
  const colors = rampColors(look.ramp, theme, look.isReversed)
  return (
    <LegendFold label="density" title="Density of features" isFoldedFirst={isFoldedFirst}>
      <div className="map-gradient">
        <div style={{ background: `linear-gradient(to right, ${colors.join(', ')})` }} />
        <p className="small">
          <span>low</span>
          <span>high</span>
        </p>
      </div>
    </LegendFold>
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
