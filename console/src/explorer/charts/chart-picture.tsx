import { type PointerEvent, useEffect, useRef, useState } from 'react'
import { useTheme } from '../../theme.ts'
import { plural } from '../../words.ts'
import { type Chart, chartText } from './chart.ts'
import { partColors } from './chart-colors.ts'
import type { ChartData, Mark } from './chart-data.ts'
import { intervalWords } from './chart-data.ts'
import { measuredWords, valueTitle } from './chart-words.ts'
import { drawChart, MARKS } from './draw-chart.ts'

/** The drawing of a chart. What is pointed at is told beside the pointer, and a click filters by it. */
export function ChartPicture({
  chart,
  data,
  isInside,
  onPick,
  onDrawn,
}: {
  chart: Chart
  data: ChartData
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
    const svg = drawChart(chart, data, { theme, width, isInside })
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
        onPointerMove={point}
        onPointerLeave={() => setPointed(null)}
        onClick={(event) => {
          const mark = markAt(event)
          if (mark?.clauses) onPick?.(mark, event.ctrlKey || event.metaKey || event.shiftKey)
        }}
      />
      {pointed && (
        <div
          className="chart-tip"
          aria-hidden="true"
          style={{
            left: pointed.x,
            top: pointed.y,
            translate: pointed.x > width / 2 ? '-105% -110%' : '5% -110%',
          }}
        >
          <MarkWords chart={chart} mark={pointed.mark} canPick={onPick !== null} />
        </div>
      )}
    </div>
  )
}

/** The marks that the drawing's indexes count: boxes are drawn of groups that have values. */
function drawnMarks(chart: Chart, { marks }: ChartData): Mark[] {
  return chart.kind === 'box' ? marks.filter(({ box }) => box) : marks
}

function MarkWords({ chart, mark, canPick }: { chart: Chart; mark: Mark; canPick: boolean }) {
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
      {canPick && mark.clauses && <span className="soft">Click to filter</span>}
    </>
  )
}

/** The parts of the groups with their colors. */
export function ChartLegend({ data }: { data: ChartData }) {
  const theme = useTheme()
  if (data.parts.length === 0) return null
  const colors = partColors(data, theme)
  return (
    <ul className="chart-legend" aria-label="Legend">
      {data.parts.map((part, index) => (
        <li key={part} dir="auto">
          <span className="swatch" style={{ background: colors[index]! }} /> {part}
        </li>
      ))}
    </ul>
  )
}

/** One unit of the drawing is a pixel, so that its letters have the same size on a phone. */
function useWidth(place: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) =>
      setWidth(Math.max(200, Math.floor(entry!.contentRect.width))),
    )
    watch.observe(place.current!)
    return () => watch.disconnect()
  }, [])
  return width
}
