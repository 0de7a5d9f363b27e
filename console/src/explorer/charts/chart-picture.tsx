import { type PointerEvent, useEffect, useRef, useState } from 'react'
import { useTheme } from '../../theme.ts'
import { plural } from '../../words.ts'
import { type Clause, columnOf } from '../filter/clause.ts'
import { type Chart, chartText } from './chart.ts'
import { partColors } from './chart-colors.ts'
import type { ChartData, Mark } from './chart-data.ts'
import { intervalWords } from './chart-data.ts'
import { type AxisLabels, measuredWords, valueTitle } from './chart-words.ts'
import { drawChart, MARKS } from './draw-chart.ts'
import { rangeBetween } from './picked.ts'
import { useBrush } from './use-brush.ts'

/**
 * The drawing of a chart. What is pointed at is told beside the pointer, and a click filters by it. Dragging over an axis
 * of numbers or times filters by a range.
 */
export function ChartPicture({
  chart,
  data,
  labels,
  isInside,
  onPick,
  onDrawn,
}: {
  chart: Chart
  data: ChartData
  labels: AxisLabels
  isInside: (mark: Mark) => boolean
  /** Null if nothing can be filtered. */
  onPick: ((mark: Mark, isAdded: boolean) => void) | null
  onDrawn: (svg: SVGSVGElement) => void
}) {
  const place = useRef<HTMLDivElement>(null)
  const theme = useTheme()
  const width = useWidth(place)
  const [pointed, setPointed] = useState<{ mark: Mark; x: number; y: number } | null>(null)
  const inside = data.marks.map(isInside).join()
  useEffect(() => {
    if (width === 0) return
    const svg = drawChart(chart, data, { theme, width, labels, isInside })
    place.current!.replaceChildren(svg)
    onDrawn(svg)
    setPointed(null)
  }, [chartText(chart), data, theme, width, inside])
  const markAt = (event: { target: EventTarget }): Mark | undefined => {
    const element = (event.target as Element).closest(`.${MARKS} > *, .${MARKS}`) as
      | (Element & { __data__?: number })
      | null
    return element?.__data__ === undefined ? undefined : drawnMarks(chart, data)[element.__data__]
  }
  const hasRanges = onPick !== null && data.axis !== 'values' && chart.kind !== 'points'
  const onBrushed = (first: Mark, last: Mark) => {
    const range = rangeBetween(first, last, chart.column)
    if (range) onPick?.({ ...first, clauses: [range] }, false)
  }
  const brush = useBrush(place, drawnMarks(chart, data), hasRanges ? onBrushed : null)
  const point = (event: PointerEvent) => {
    const mark = markAt(event)
    const { left, top } = place.current!.getBoundingClientRect()
    setPointed(mark ? { mark, x: event.clientX - left, y: event.clientY - top } : null)
  }
  return (
    <div className="chart-picture">
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the table of the chart has a button for each group. */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: as above. */}
      <div
        ref={place}
        data-can-pick={onPick !== null || undefined}
        onPointerDown={brush.begin}
        onPointerMove={point}
        onPointerLeave={() => setPointed(null)}
        onClick={(event) => {
          const mark = markAt(event)
          if (mark?.clauses && !brush.wasBrushed.current)
            onPick?.(mark, event.ctrlKey || event.metaKey || event.shiftKey)
        }}
      />
      {brush.band && <div className="chart-band" aria-hidden="true" style={brush.band} />}
      {pointed && !brush.band && (
        <div
          className="chart-tip"
          aria-hidden="true"
          style={{
            left: pointed.x,
            top: pointed.y,
            translate: pointed.x > width / 2 ? '-105% -110%' : '5% -110%',
          }}
        >
          <MarkWords chart={chart} mark={pointed.mark} canPick={onPick !== null} hasRanges={hasRanges} />
        </div>
      )}
    </div>
  )
}

/** The marks that the drawing's indexes count: boxes are drawn of groups that have values. */
function drawnMarks(chart: Chart, { marks }: ChartData): Mark[] {
  return chart.kind === 'box' ? marks.filter(({ box }) => box) : marks
}

function MarkWords({
  chart,
  mark,
  canPick,
  hasRanges,
}: {
  chart: Chart
  mark: Mark
  canPick: boolean
  /** Whether a range can be selected. */
  hasRanges: boolean
}) {
  const isCell = chart.kind === 'points' && mark.value !== mark.valueTo
  const value = isCell ? intervalWords(mark.value!, mark.valueTo!) : measuredWords(mark.value, chart)
  return (
    <>
      <strong dir="auto">{mark.part === null ? mark.group : `${mark.group} · ${mark.part}`}</strong>
      {chart.measure === 'count' && chart.kind !== 'box' && chart.kind !== 'points' ? null : (
        <span>
          {valueTitle(chart)}: {value}
        </span>
      )}
      <span>{plural(mark.rows, 'row')}</span>
      {canPick && mark.clauses && (
        <span className="soft">{hasRanges ? 'Click or drag to filter' : 'Click to filter'}</span>
      )}
    </>
  )
}

/** The parts of the groups with their colors. A click on one filters by it. */
export function ChartLegend({
  chart,
  data,
  clauses,
  onPick,
}: {
  chart: Chart
  data: ChartData
  clauses: readonly Clause[]
  onPick: ((mark: Mark, isAdded: boolean) => void) | null
}) {
  const theme = useTheme()
  if (data.parts.length === 0) return null
  const colors = partColors(data, theme)
  const isFiltered = clauses.some((clause) => columnOf(clause) === chart.by)
  return (
    <ul className="chart-legend" aria-label="Legend">
      {data.parts.map((part, index) => {
        const mark = data.marks.find((one) => one.part === part)
        const clause = mark?.clauses?.find((one) => columnOf(one) === chart.by)
        const content = (
          <>
            <span className="swatch" style={{ background: colors[index]! }} />
            <span dir="auto">{part}</span>
          </>
        )
        return (
          <li key={part}>
            {mark && clause && onPick ? (
              <button
                type="button"
                aria-pressed={isFiltered}
                title={isFiltered ? 'Show all rows again' : 'Show only these rows'}
                onClick={(event) =>
                  onPick({ ...mark, clauses: [clause] }, event.ctrlKey || event.metaKey || event.shiftKey)
                }
              >
                {content}
              </button>
            ) : (
              content
            )}
          </li>
        )
      })}
    </ul>
  )
}

const MIN_WIDTH_PX = 200

/** One unit of the drawing is a pixel, so that its letters have the same size on a phone. */
function useWidth(place: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => {
      const { width } = entry!.contentRect
      // It has no width while the page hides it, such as while other parts of it load.
      if (width > 0) setWidth(Math.max(MIN_WIDTH_PX, Math.floor(width)))
    })
    watch.observe(place.current!)
    return () => watch.disconnect()
  }, [])
  return width
}
