import { type RefObject, useEffect, useRef, useState } from 'react'
import { count, plural } from '../../words.ts'
import type { HistogramBin } from '../filter/facet.ts'
import { endText, endTexts, niceMax } from './axis.ts'

const HEIGHT = 210
/** The width until it is measured, in pixels. */
const USUAL_WIDTH = 560
/** The width of a character of a label on an axis, in pixels. */
const CHARACTER_WIDTH = 7.7
const [LEFT, BOTTOM, TOP] = [46, 22, 8]

/** A histogram of numbers, or a time series: rows in intervals of equal width. */
export function HistogramChart({
  column,
  type,
  bins,
}: {
  column: string
  type: string
  bins: HistogramBin[]
}) {
  const [pointed, setPointed] = useState<number | null>(null)
  const place = useRef<SVGSVGElement>(null)
  const width = useWidth(place)
  const isTime = type === 'date' || type === 'timestamp'
  const max = niceMax(Math.max(1, ...bins.map((bin) => bin.count)))
  const step = (width - LEFT) / bins.length
  const y = (rows: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - rows / max)
  const bin = pointed === null ? null : bins[pointed]
  const ends = bins.length > 0 ? [...bins.map(({ from }) => from), bins.at(-1)!.to] : []
  const labels = endTexts(ends, type, (width - LEFT) / CHARACTER_WIDTH)
  return (
    <>
      <svg
        ref={place}
        className="histogram-chart"
        viewBox={`0 0 ${width} ${HEIGHT}`}
        role="img"
        aria-label={`${isTime ? 'Time series' : 'Histogram'} of ${column}: ${summary(bins, type)}`}
        onPointerLeave={() => setPointed(null)}
      >
        {[0, 0.5, 1].map((share) => (
          <g key={share}>
            <line className="grid" x1={LEFT} x2={width} y1={y(max * share)} y2={y(max * share)} />
            <text className="tick" x={LEFT - 6} y={y(max * share) + 4} textAnchor="end">
              {count(max * share)}
            </text>
          </g>
        ))}
        {bins.map((one, index) => (
          <g key={String(one.from)} onPointerEnter={() => setPointed(index)}>
            <rect
              className="reach"
              x={LEFT + index * step}
              y={TOP}
              width={step}
              height={HEIGHT - TOP - BOTTOM}
            />
            <rect
              className={pointed === index ? 'bin pointed' : 'bin'}
              x={LEFT + index * step + 0.5}
              width={Math.max(0.5, step - 1)}
              y={y(one.count)}
              height={y(0) - y(one.count)}
            />
          </g>
        ))}
        {labels.map(({ index, text }) => (
          <text
            key={index}
            className="tick"
            x={LEFT + index * step}
            y={HEIGHT - 6}
            textAnchor={index === 0 ? 'start' : index === bins.length ? 'end' : 'middle'}
          >
            {text}
          </text>
        ))}
      </svg>
      <p className="small soft chart-note">
        {bin ? `${endText(bin.from, type)} to ${endText(bin.to, type)}: ${plural(bin.count, 'row')}` : ' '}
      </p>
    </>
  )
}

/** One unit of the drawing is a pixel, so that its letters have the same size on a phone. */
function useWidth(place: RefObject<SVGSVGElement | null>): number {
  const [width, setWidth] = useState(USUAL_WIDTH)
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => setWidth(Math.max(160, entry!.contentRect.width)))
    watch.observe(place.current!)
    return () => watch.disconnect()
  }, [])
  return width
}

/** The chart in a sentence, for screen readers. */
function summary(bins: HistogramBin[], type: string): string {
  const [first] = bins
  if (!first) return 'no values'
  const highest = bins.reduce((best, bin) => (bin.count > best.count ? bin : best))
  const range = `${endText(first.from, type)} to ${endText(bins.at(-1)!.to, type)}`
  return `${range}; most rows, ${count(highest.count)}, from ${endText(highest.from, type)} to ${endText(highest.to, type)}`
}
