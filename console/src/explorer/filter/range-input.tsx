import { useEffect, useState } from 'react'
import type { Value } from './cql2-text.ts'
import { parseEnd } from './parse-end.ts'

/** One end of a range. It applies when the user leaves the field or presses Enter. */
export function RangeInput({
  label,
  type,
  value,
  placeholder,
  isDisabled,
  onChange,
}: {
  label: string
  type: string
  value: Value | null
  placeholder: Value | undefined
  isDisabled: boolean
  onChange: (value: Value | null) => void
}) {
  const text = value === null ? '' : String(value)
  const [draft, setDraft] = useState(text)
  const [isWrong, setIsWrong] = useState(false)
  useEffect(() => {
    setDraft(text)
    setIsWrong(false)
  }, [text])
  const apply = () => {
    if (draft.trim() === text) return
    const parsed = parseEnd(draft, type)
    setIsWrong(parsed === undefined)
    if (parsed !== undefined) onChange(parsed)
  }
  return (
    <input
      aria-label={label}
      aria-invalid={isWrong || undefined}
      title={type === 'timestamp' ? 'A date, or a date and time in UTC' : undefined}
      value={draft}
      placeholder={placeholder === undefined ? '' : shortEnd(placeholder, type)}
      disabled={isDisabled}
      inputMode={type === 'integer' || type === 'number' ? 'decimal' : 'text'}
      onChange={(event) => setDraft(event.target.value)}
      onBlur={apply}
      onKeyDown={(event) => {
        if (event.key === 'Enter') apply()
      }}
    />
  )
}

function shortEnd(value: Value, type: string): string {
  if (typeof value === 'number') return String(Number(value.toPrecision(6)))
  return type === 'timestamp' ? String(value).slice(0, 16).replace('T', ' ') : String(value)
}
