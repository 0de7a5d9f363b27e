import type { DatasetDetails } from '@wayleave/contract/records'
import { useEffect, useId, useState } from 'react'
import { useSettled } from '../../components/use-settled.ts'
import { ChoiceSelect } from './choice-select.tsx'

/** A part of the time: `from` belongs to it, `to` does not, unless it is the last one. */
export interface TimeWindow {
  column: string
  from: string
  to: string
  isLast: boolean
}

/** How many windows the whole time has. */
const STEPS = ['6', '12', '24', '48', '96']
const STEP_WORDS = Object.fromEntries(STEPS.map((steps) => [steps, `1/${steps} of the time`]))
const PLAY_MS = 1100
const SETTLE_MS = 250

/**
 * A window over a column of times that is moved by hand or plays. While it plays, only the map follows it; a window that
 * stands still is a part of the filter, so that table, charts and the shared address show the same rows.
 */
export function TimeSlider({
  dataset,
  column,
  shown,
  isLoading,
  onPlay,
  onSelect,
}: {
  dataset: DatasetDetails
  column: string
  /** The beginning of the window that the filter has; null if it has none. */
  shown: string | null
  /** Whether the map still loads the window before. */
  isLoading: boolean
  /** The window while it plays; null when it does not. */
  onPlay: (window: TimeWindow | null) => void
  /** The window that stands still; null for the whole time. */
  onSelect: (window: TimeWindow | null) => void
}) {
  const [steps, setSteps] = useState('24')
  const type = dataset.columns.find(({ name }) => name === column)?.type
  const { min, max } = dataset.statistics?.[column] ?? {}
  const [first, last] = [Date.parse(String(min)), Date.parse(String(max))]
  const count = Number(steps)
  const [index, setIndex] = useState(() => indexOf(shown, first, last, count))
  const [isPlaying, setIsPlaying] = useState(false)
  const id = useId()
  const isKnown = Number.isFinite(first) && last > first

  const windowAt = (at: number): TimeWindow => {
    const time = (step: number) => {
      const iso = new Date(first + ((last - first) * step) / count).toISOString()
      return type === 'date' ? iso.slice(0, 10) : iso.replace('.000Z', 'Z')
    }
    return { column, from: time(at), to: time(at + 1), isLast: at === count - 1 }
  }
  const moved = useSettled(index, SETTLE_MS)
  useEffect(() => {
    if (!isPlaying && moved !== null && moved === index) onSelect(windowAt(moved))
  }, [moved, isPlaying])
  useEffect(() => {
    onPlay(isPlaying && index !== null ? windowAt(index) : null)
    if (!isPlaying) return
    const timer = setTimeout(() => {
      if (!isLoading) setIndex(((index ?? -1) + 1) % count)
    }, PLAY_MS)
    return () => clearTimeout(timer)
  }, [isPlaying, index, isLoading, steps])

  if (!isKnown) return null
  const current = index === null ? null : windowAt(index)
  return (
    <fieldset className="time-slider">
      <legend className="visually-hidden">Time slider: {column}</legend>
      <button
        type="button"
        className="button small"
        onClick={() => {
          if (index === null) setIndex(0)
          setIsPlaying(!isPlaying)
        }}
      >
        {isPlaying ? 'Pause' : 'Play'}
      </button>
      <label htmlFor={id} className="visually-hidden">
        Window of {column}
      </label>
      <input
        id={id}
        type="range"
        min="0"
        max={count - 1}
        value={index ?? 0}
        aria-valuetext={current ? `${words(current.from)} to ${words(current.to)}` : 'all times'}
        onChange={(event) => {
          setIsPlaying(false)
          setIndex(Number(event.target.value))
        }}
      />
      <output htmlFor={id} className="small">
        {current ? `${words(current.from)} – ${words(current.to)}` : 'all times'}
      </output>
      <ChoiceSelect
        label="Window"
        choices={STEPS}
        words={STEP_WORDS}
        value={steps}
        onChange={(chosen) => {
          setSteps(chosen)
          setIndex(index === null ? null : Math.floor((index * Number(chosen)) / count))
        }}
      />
      {index !== null && (
        <button
          type="button"
          className="button small quiet"
          onClick={() => {
            setIsPlaying(false)
            setIndex(null)
            onSelect(null)
          }}
        >
          All times
        </button>
      )}
    </fieldset>
  )
}

function indexOf(shown: string | null, first: number, last: number, count: number): number | null {
  if (shown === null) return null
  const share = (Date.parse(shown) - first) / (last - first)
  return share >= 0 && share < 1 ? Math.round(share * count) : null
}

/** 2018-02-05, or 2018-02-05 14:30 within a day. */
function words(iso: string): string {
  const [day, time = ''] = iso.split('T')
  return time.startsWith('00:00') || time === '' ? day! : `${day} ${time.slice(0, 5)}`
}
