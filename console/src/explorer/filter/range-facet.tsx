import { type PointerEvent, useEffect, useRef, useState } from 'react'
import type { Clause } from './clause.ts'
import type { Value } from './cql2-text.ts'
import type { Facet, HistogramBin } from './facet.ts'
import { RangeInput } from './range-input.tsx'

type RangeClause = Extract<Clause, { kind: 'range' }>

/** A histogram of numbers or times; dragging over it, or typing two ends, selects a range. */
export function RangeFacet({
  column,
  type,
  facet,
  clause,
  isDisabled,
  onChange,
}: {
  column: string
  type: string
  facet: Facet
  clause: RangeClause | null
  isDisabled: boolean
  onChange: (clause: RangeClause | null) => void
}) {
  const bins = facet.histogram ?? []
  const [drag, setDrag] = useState<[start: number, end: number] | null>(null)
  const place = useRef<HTMLDivElement>(null)
  const max = Math.max(1, ...bins.map(({ count }) => count))
  const set = (from: Value | null, to: Value | null, isBelow: boolean) =>
    onChange(from === null && to === null ? null : { kind: 'range', column, from, to, isBelow })

  const binAt = (event: PointerEvent) => {
    const { left, width } = place.current!.getBoundingClientRect()
    const share = (event.clientX - left) / width
    return Math.max(0, Math.min(bins.length - 1, Math.floor(share * bins.length)))
  }
  const finish = () => {
    if (!drag) return
    const [low, high] = [Math.min(...drag), Math.max(...drag)]
    setDrag(null)
    const isLast = high === bins.length - 1
    if (low === 0 && isLast) set(null, null, false)
    else set(bins[low]!.from, bins[high]!.to, !isLast)
  }
  // A drag may end outside the histogram.
  useEffect(() => {
    if (!drag) return
    addEventListener('pointerup', finish)
    return () => removeEventListener('pointerup', finish)
  })

  const first = bins[0]?.from
  const last = bins.at(-1)?.to
  return (
    <div className="stack-small">
      <div
        ref={place}
        className="facet-histogram"
        aria-hidden="true"
        data-disabled={isDisabled || undefined}
        onPointerDown={(event) => {
          if (isDisabled) return
          event.preventDefault()
          setDrag([binAt(event), binAt(event)])
        }}
        onPointerMove={(event) => {
          if (drag) setDrag([drag[0], binAt(event)])
        }}
      >
        {bins.map((bin, index) => (
          <span
            key={String(bin.from)}
            className={isInside(bin, index, clause, drag) ? 'inside' : undefined}
            style={{ height: bin.count === 0 ? '0' : `${Math.max(4, (bin.count / max) * 100)}%` }}
          />
        ))}
      </div>
      <div className="facet-ends" data-type={type}>
        {type === 'timestamp' && <span className="soft">from</span>}
        <RangeInput
          label={`${column} from`}
          type={type}
          value={clause?.from ?? null}
          placeholder={first}
          isDisabled={isDisabled}
          onChange={(from) => set(from, clause?.to ?? null, clause?.isBelow ?? false)}
        />
        <span className="soft">to</span>
        <RangeInput
          label={`${column} to`}
          type={type}
          value={clause?.to ?? null}
          placeholder={last}
          isDisabled={isDisabled}
          onChange={(to) => set(clause?.from ?? null, to, false)}
        />
      </div>
      {facet.nulls > 0 && (
        <p className="small soft">{facet.nulls.toLocaleString('en')} rows without a value</p>
      )}
    </div>
  )
}

function isInside(
  bin: HistogramBin,
  index: number,
  clause: RangeClause | null,
  drag: [number, number] | null,
): boolean {
  if (drag) return index >= Math.min(...drag) && index <= Math.max(...drag)
  if (!clause) return true
  const { from, to } = clause
  return (from === null || isAtMost(from, bin.from)) && (to === null || isAtMost(bin.to, to))
}

/** Compares numbers, and times as ISO 8601 texts in UTC. */
function isAtMost(a: Value, b: Value): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a <= b
  const [first, second] = [Date.parse(String(a)), Date.parse(String(b))]
  return Number.isNaN(first) ? Number(a) <= Number(b) : first <= second
}
