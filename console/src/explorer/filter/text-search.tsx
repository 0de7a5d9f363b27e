import { useEffect, useState } from 'react'
import { useSettled } from '../../components/use-settled.ts'

/** A field that searches in texts; it applies when typing pauses. */
export function TextSearch({
  label,
  value,
  isDisabled,
  onChange,
}: {
  label: string
  value: string
  isDisabled: boolean
  onChange: (text: string) => void
}) {
  const [draft, setDraft] = useState(value)
  const settled = useSettled(draft, 350)
  useEffect(() => setDraft(value), [value])
  useEffect(() => {
    if (settled === draft && settled !== value) onChange(settled)
  }, [settled])
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      value={draft}
      disabled={isDisabled}
      onChange={(event) => setDraft(event.target.value)}
    />
  )
}
