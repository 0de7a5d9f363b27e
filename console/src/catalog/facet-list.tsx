import { useState } from 'react'
import { count } from '../words.ts'
import type { FacetCount } from './facets.ts'

const MAX_SHOWN = 8

/** The values of a facet to choose from. Choosing the chosen one again removes it. */
export function FacetList({
  title,
  rows,
  chosen,
  onChoose,
}: {
  title: string
  rows: FacetCount[]
  chosen: string
  onChoose: (value: string) => void
}) {
  const [isWhole, setIsWhole] = useState(false)
  if (rows.length === 0 && chosen === '') return null
  const listed = rows.some(({ value }) => value === chosen) || chosen === ''
  const all = listed ? rows : [{ value: chosen, count: 0 }, ...rows]
  const shown = isWhole ? all : all.filter(({ value }, i) => i < MAX_SHOWN || value === chosen)
  return (
    <fieldset>
      <legend>{title}</legend>
      {shown.map((row) => (
        <label key={row.value} className="choice small">
          <input
            type="checkbox"
            checked={row.value === chosen}
            onChange={() => onChoose(row.value === chosen ? '' : row.value)}
          />
          <span>
            {row.value} <span className="count">{count(row.count)}</span>
          </span>
        </label>
      ))}
      {all.length > shown.length && (
        <button type="button" className="link small" onClick={() => setIsWhole(true)}>
          {count(all.length - shown.length)} more
        </button>
      )}
    </fieldset>
  )
}
