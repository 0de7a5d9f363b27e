import {
  type Classing,
  DRAWINGS,
  legendOf,
  type MapLook,
  RAMP_NAMES,
  rampColors,
  readBreaks,
  type Scale,
} from '@wayleave/contract/map-style'
import type { DatasetDetails } from '@wayleave/contract/records'
import { useId, useState } from 'react'
import { Icon } from '../../components/icon.tsx'
import { useTheme } from '../../theme.ts'
import { ChoiceSelect } from './choice-select.tsx'
import { isNumeric } from './color-columns.ts'

const DRAW_WORDS = { features: 'features', heat: 'heat map', hexagons: 'hexagons' }
const CLASS_WORDS = {
  continuous: 'continuous',
  quantiles: 'equal counts',
  equal: 'equal steps',
  breaks: 'own breaks',
}

/** How the map is drawn: classes, ramp, opacity, labels, and the colors of values. */
export function StylePanel({
  id,
  dataset,
  look,
  color,
  hasPoints,
  onChange,
  onClose,
}: {
  id: string
  dataset: DatasetDetails
  look: MapLook
  color: Scale | null
  hasPoints: boolean
  onChange: (change: Partial<MapLook>) => void
  onClose: () => void
}) {
  const typeOf = (name: string) => dataset.columns.find((column) => column.name === name)?.type
  const colorType = typeOf(look.color)
  const isCategory = colorType !== undefined && !isNumeric(colorType)
  const hasRamp = !isCategory || look.draw !== 'features'
  const drawings = DRAWINGS.filter((drawing) => drawing !== 'heat' || hasPoints)
  const labels = dataset.columns.filter(({ type }) => type !== 'json').map(({ name }) => name)
  return (
    <section id={id} className="style-panel" aria-label="Style of the map">
      <div className="style-head">
        <h2>Style</h2>
        <button type="button" className="button quiet small" onClick={onClose} aria-label="Close the style">
          <Icon name="close" />
        </button>
      </div>
      <ChoiceSelect
        label="Draw"
        choices={drawings}
        words={DRAW_WORDS}
        value={look.draw}
        onChange={(draw) => onChange({ draw: draw as MapLook['draw'] })}
      />
      {colorType && isNumeric(colorType) && look.draw !== 'heat' && (
        <ClassingSelect
          label="Colors"
          classing={look.classing}
          onChange={(classing) => onChange({ classing })}
        />
      )}
      {look.size !== '' && look.draw === 'features' && (
        <ClassingSelect label="Sizes" classing={look.sizing} onChange={(sizing) => onChange({ sizing })} />
      )}
      {hasRamp && <RampChoice look={look} onChange={onChange} />}
      <OpacityInput opacity={look.opacity} onChange={(opacity) => onChange({ opacity })} />
      <ChoiceSelect
        label="Labels"
        none="none"
        choices={labels}
        value={look.label}
        onChange={(label) => onChange({ label })}
      />
      {isCategory && look.draw === 'features' && color && (
        <CategoryColors scale={color} look={look} onChange={onChange} />
      )}
    </section>
  )
}

function ClassingSelect({
  label,
  classing,
  onChange,
}: {
  label: string
  classing: Classing
  onChange: (classing: Classing) => void
}) {
  const [isOwn, setIsOwn] = useState(classing.kind === 'breaks')
  const [text, setText] = useState(classing.kind === 'breaks' ? classing.at.join(', ') : '')
  const id = useId()
  const breaks = readBreaks(text)
  return (
    <>
      <ChoiceSelect
        label={label}
        choices={Object.keys(CLASS_WORDS)}
        words={CLASS_WORDS}
        value={isOwn ? 'breaks' : classing.kind}
        onChange={(kind) => {
          setIsOwn(kind === 'breaks')
          if (kind !== 'breaks') onChange({ kind: kind as 'continuous' })
        }}
      />
      {isOwn && (
        <span className="inline-select">
          <label htmlFor={id} className="small soft">
            {label} begin at
          </label>
          <input
            id={id}
            size={16}
            value={text}
            placeholder="2, 4, 6"
            aria-invalid={text !== '' && breaks === null}
            onChange={(event) => {
              setText(event.target.value)
              const at = readBreaks(event.target.value)
              if (at) onChange({ kind: 'breaks', at })
            }}
          />
        </span>
      )}
    </>
  )
}

/** The ramps as they look on the map: low values at the left. */
function RampChoice({
  look: { ramp, isReversed },
  onChange,
}: {
  look: MapLook
  onChange: (change: Partial<MapLook>) => void
}) {
  const theme = useTheme()
  const id = useId()
  return (
    <fieldset className="ramps">
      <legend className="small soft">Ramp</legend>
      {RAMP_NAMES.map((name) => (
        <label key={name} title={name}>
          <input
            type="radio"
            className="visually-hidden"
            name={id}
            aria-label={name}
            checked={name === ramp}
            onChange={() => onChange({ ramp: name, isReversed })}
          />
          <span
            className="ramp"
            style={{
              background: `linear-gradient(to right, ${rampColors(name, theme, isReversed).join(', ')})`,
            }}
          />
        </label>
      ))}
      <label className="choice small">
        <input
          type="checkbox"
          checked={isReversed}
          onChange={(event) => onChange({ ramp, isReversed: event.target.checked })}
        />
        Reversed
      </label>
    </fieldset>
  )
}

function OpacityInput({ opacity, onChange }: { opacity: number; onChange: (opacity: number) => void }) {
  const id = useId()
  return (
    <span className="inline-select">
      <label htmlFor={id} className="small soft">
        Opacity
      </label>
      <input
        id={id}
        type="range"
        min="0.1"
        max="1"
        step="0.05"
        value={opacity}
        onChange={(event) => onChange(Number(event.target.value))}
      />
      <output htmlFor={id} className="small">
        {Math.round(opacity * 100)} %
      </output>
    </span>
  )
}

/** A color for each value that the legend has. */
function CategoryColors({
  scale,
  look,
  onChange,
}: {
  scale: Scale
  look: MapLook
  onChange: (change: Partial<MapLook>) => void
}) {
  const entries = legendOf(scale, look, useTheme(), String)
  return (
    <fieldset className="category-colors">
      <legend className="small soft">Colors of {look.color}</legend>
      {entries.map(
        ({ value, label, color }) =>
          value !== undefined && (
            <label key={value} className="small">
              <input
                type="color"
                value={color}
                onChange={(event) =>
                  onChange({ colors: new Map(look.colors).set(value, event.target.value) })
                }
              />
              <span dir="auto">{label}</span>
            </label>
          ),
      )}
      {look.colors.size > 0 && (
        <button type="button" className="button small quiet" onClick={() => onChange({ colors: new Map() })}>
          Usual colors
        </button>
      )}
    </fieldset>
  )
}
