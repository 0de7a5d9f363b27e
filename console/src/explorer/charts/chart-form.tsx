import type { DatasetDetails } from '@wayleave/contract/records'
import { type ComponentProps, type ReactNode, useEffect, useId, useState } from 'react'
import {
  axisOf,
  type Chart,
  columnOf,
  fitted,
  isAdditive,
  isCounted,
  isNumeric,
  isTime,
  type Kind,
  kindsOf,
  MAX_NOTE,
  MAX_TITLE,
  MAX_TOP,
  MEASURES,
  ofColumns,
  PERIODS,
  scalesOf,
  splitColumns,
} from './chart.ts'
import { drawnTitle, MEASURE_WORDS } from './chart-words.ts'

const LAYOUT_WORDS = { stacked: 'Stacked', grouped: 'Side by side', filled: 'Shares of 100 %' }
const SCALE_WORDS = {
  linear: 'Linear',
  log: 'Logarithmic',
  'log-across': 'Logarithmic across',
  'log-both': 'Both logarithmic',
}
const ORDER_WORDS = { most: 'Highest first', least: 'Lowest first', value: 'By value' }

/** The controls of one chart. What does not suit the columns is not offered. */
export function ChartForm({
  chart,
  dataset,
  step,
  onChange,
}: {
  chart: Chart
  dataset: DatasetDetails
  /** The period or the width that the data has decided. */
  step: string
  onChange: (chart: Chart) => void
}) {
  const change = (part: Partial<Chart>) => {
    const changed = fitted({ ...chart, ...part }, dataset)
    if (changed) onChange(changed)
  }
  const axis = axisOf(chart, dataset)
  const type = columnOf(chart.column, dataset)!.type
  const names = dataset.columns.filter((column) => column.type !== 'json').map(({ name }) => name)
  const isMeasured = chart.kind === 'bars' || chart.kind === 'line'
  const measurable = ofColumns({ ...chart, measure: 'sum' }, dataset)
  const measures = MEASURES.filter(
    (measure) => isCounted(measure) || measure === 'distinct' || measurable.length > 0,
  )
  return (
    <div className="chart-form">
      <Choice
        label="Chart"
        value={chart.kind}
        choices={kindsOf(chart, dataset).map((kind) => [kind, kindWords(kind, axis)])}
        onChange={(kind) => change({ kind: kind as Kind })}
      />
      {isMeasured && (
        <Choice
          label="Shows"
          value={chart.measure}
          choices={measures.map((measure) => [measure, MEASURE_WORDS[measure]])}
          onChange={(measure) => change({ measure: measure as Chart['measure'] })}
        />
      )}
      {(!isMeasured || !isCounted(chart.measure)) && (
        <Choice
          label="Of"
          value={chart.of}
          choices={ofColumns(chart, dataset).map(({ name }) => [name, name])}
          onChange={(of) => change({ of })}
        />
      )}
      <Choice
        label="By"
        value={chart.column}
        choices={names.map((name) => [name, name])}
        onChange={(column) => change({ column, step: '' })}
      />
      {isTime(type) && (
        <Choice
          label="Each"
          value={chart.step}
          choices={[
            ['', step && chart.step === '' ? `Automatic (${step})` : 'Automatic'],
            ...PERIODS.filter((period) => period !== 'hour' || type === 'timestamp').map(
              (period): [string, string] => [period, period],
            ),
          ]}
          onChange={(step) => change({ step })}
        />
      )}
      {isNumeric(type) && <WidthField chart={chart} step={step} onChange={(step) => change({ step })} />}
      <ScaleField chart={chart} dataset={dataset} onChange={(scale) => change({ scale })} />
      <GroupFields chart={chart} dataset={dataset} isMeasured={isMeasured} change={change} />
      <CommittedField
        label="Title"
        value={chart.title}
        maxLength={MAX_TITLE}
        placeholder={drawnTitle(chart)}
        onChange={(title) => change({ title: title.trim() })}
      />
      <CommittedField
        label="Note"
        value={chart.note}
        maxLength={MAX_NOTE}
        placeholder="What one should see in it"
        onChange={(note) => change({ note: note.trim() })}
      />
    </div>
  )
}

function ScaleField({
  chart,
  dataset,
  onChange,
}: {
  chart: Chart
  dataset: DatasetDetails
  onChange: (scale: Chart['scale']) => void
}) {
  const scales = scalesOf(chart, dataset)
  if (scales.length === 1) return null
  const isOfPoints = chart.kind === 'points'
  return (
    <Choice
      label={isOfPoints ? 'Axes' : 'Axis'}
      value={chart.scale}
      choices={scales.map((scale) => [
        scale,
        scale === 'log' && isOfPoints ? 'Logarithmic upwards' : SCALE_WORDS[scale],
      ])}
      onChange={(scale) => onChange(scale as Chart['scale'])}
    />
  )
}

/** How the groups are split, ordered and cut. */
function GroupFields({
  chart,
  dataset,
  isMeasured,
  change,
}: {
  chart: Chart
  dataset: DatasetDetails
  isMeasured: boolean
  change: (part: Partial<Chart>) => void
}) {
  const splits = splitColumns(chart, dataset)
  return (
    <>
      {isMeasured && splits.length > 0 && (
        <Choice
          label="Split by"
          value={chart.by}
          choices={[['', 'Nothing'], ...splits.map(({ name }): [string, string] => [name, name])]}
          onChange={(by) => change({ by })}
        />
      )}
      {chart.by !== '' && isAdditive(chart.measure) && (
        <Choice
          label="Parts"
          value={chart.layout}
          choices={Object.entries(LAYOUT_WORDS)}
          onChange={(layout) => change({ layout: layout as Chart['layout'] })}
        />
      )}
      {axisOf(chart, dataset) === 'values' && chart.step !== 'weekday' && (
        <>
          <Choice
            label="Order"
            value={chart.order}
            choices={Object.entries(ORDER_WORDS)}
            onChange={(order) => change({ order: order as Chart['order'] })}
          />
          <NumberField
            label="Show the first"
            value={String(chart.top)}
            min={1}
            max={MAX_TOP}
            onChange={(top) => change({ top: Math.round(Number(top)) })}
          />
        </>
      )}
    </>
  )
}

function kindWords(kind: Kind, axis: string): string {
  if (kind === 'bars') return axis === 'numbers' ? 'Histogram' : 'Bars'
  return { line: 'Line', box: 'Boxes', points: 'Points' }[kind]
}

/** Intervals of an automatic or a chosen width, or each value. */
function WidthField({
  chart,
  step,
  onChange,
}: {
  chart: Chart
  step: string
  onChange: (step: string) => void
}) {
  const isValues = chart.step === 'values'
  const value = isValues ? 'values' : chart.step === '' ? '' : 'own'
  return (
    <>
      <Choice
        label="Intervals"
        value={value}
        choices={[
          ['', 'Automatic'],
          ['own', 'Of this width'],
          ...(chart.kind === 'points' ? [] : [['values', 'Each value'] as [string, string]]),
        ]}
        onChange={(choice) => onChange(choice === 'own' ? (Number(step) > 0 ? step : '1') : choice)}
      />
      {value === 'own' && <NumberField label="Width" value={chart.step} onChange={onChange} />}
    </>
  )
}

function Choice({
  label,
  value,
  choices,
  onChange,
}: {
  label: string
  value: string
  choices: [value: string, words: string][]
  onChange: (value: string) => void
}) {
  return (
    <Labelled label={label}>
      {(id) => (
        <select id={id} value={value} onChange={(event) => onChange(event.target.value)}>
          {choices.map(([choice, words]) => (
            <option key={choice} value={choice}>
              {words}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  )
}

function NumberField({
  min = 0,
  max,
  onChange,
  ...field
}: {
  label: string
  value: string
  min?: number
  max?: number
  onChange: (value: string) => void
}) {
  const isValid = (text: string) => {
    const number = Number(text)
    return number > 0 && number >= min && (max === undefined || number <= max)
  }
  const commit = (text: string) => onChange(String(Number(text)))
  return <CommittedField {...field} {...{ min, max, isValid }} type="number" step="any" onChange={commit} />
}

/** A text that counts once it is complete: with Enter, or when the field is left. */
function CommittedField({
  label,
  value,
  isValid = () => true,
  onChange,
  ...input
}: Omit<ComponentProps<'input'>, 'onChange'> & {
  label: string
  value: string
  isValid?: (text: string) => boolean
  onChange: (value: string) => void
}) {
  const [text, setText] = useState(value)
  useEffect(() => setText(value), [value])
  const commit = () => {
    if (isValid(text) && text !== value) onChange(text)
    else setText(value)
  }
  return (
    <Labelled label={label}>
      {(id) => (
        <input
          {...input}
          id={id}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onBlur={commit}
          onKeyDown={(event) => event.key === 'Enter' && commit()}
        />
      )}
    </Labelled>
  )
}

function Labelled({ label, children }: { label: string; children: (id: string) => ReactNode }) {
  const id = useId()
  return (
    <div>
      <label htmlFor={id} className="small soft">
        {label}
      </label>
      {children(id)}
    </div>
  )
}
